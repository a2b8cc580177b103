import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/mantine.css'
import './look/tokens.css'
import './look/fonts.css'
import './look/base.css'
import { App } from './app.tsx'
import { showTheme } from './look/theme.ts'
import { publishNonce } from './nonce.ts'
import { loadScriptsOfPage, router } from './router.tsx'
import { languageOfDevice, showLanguage } from './words/words.ts'

showTheme()
void drawPage() // without `await`: the scripts of a page import this module, so both would wait for each other forever

/** Requests everything that the page needs at once, so that React renders it in one step. */
async function drawPage() {
  const nonce = publishNonce()
  await Promise.all([showLanguage(languageOfDevice()), router.load(), loadScriptsOfPage()])
  const root = document.getElementById('root')
  if (!root) throw new Error('The index has no element with the id "root"')
  createRoot(root).render(
    <StrictMode>
      <App nonce={nonce} />
    </StrictMode>,
  )
}
