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
void drawPage() // not awaited: the scripts of a page import this one, so they would wait for each other for ever

/** All that the page needs is asked for at once, and React draws it in one step. */
async function drawPage() {
  const nonce = publishNonce()
  await Promise.all([showLanguage(languageOfDevice()), router.load(), loadScriptsOfPage()])
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <App nonce={nonce} />
    </StrictMode>,
  )
}
