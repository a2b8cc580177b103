import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/mantine.css'
import './look/tokens.css'
import './look/fonts.css'
import './look/base.css'
import { App } from './app.tsx'
import { publishNonce } from './nonce.ts'
import { languageOfDevice, showLanguage } from './words/words.ts'

const nonce = publishNonce()
await showLanguage(languageOfDevice())
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App nonce={nonce} />
  </StrictMode>,
)
