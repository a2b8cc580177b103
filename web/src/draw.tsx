import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/mantine.css'
import './look/tokens.css'
import './look/fonts.css'
import './look/base.css'
import { App } from './app.tsx'
import { publishNonce } from './nonce.ts'
import './shell/shell.tsx' // the route loads it too, and finds it here

/** React, Mantine and the frame of every page. */
export function draw() {
  const nonce = publishNonce()
  const root = document.getElementById('root')
  if (!root) throw new Error('The index has no element with the id "root"')
  createRoot(root).render(
    <StrictMode>
      <App nonce={nonce} />
    </StrictMode>,
  )
}
