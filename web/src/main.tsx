import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/mantine.css'
import './look/tokens.css'
import './look/fonts.css'
import './look/base.css'
import { App } from './app.tsx'
import { publishNonce } from './nonce.ts'
import { loadScriptsOfPage, router } from './router.tsx'
import { languageOfDevice, showLanguage } from './words/words.ts'

/** Everything that the page needs is requested at once, and React draws it in one step. */
async function drawPage() {
  const nonce = publishNonce()
  loadScriptsOfPage()
  await Promise.all([showLanguage(languageOfDevice()), router.load()])
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <App nonce={nonce} />
    </StrictMode>,
  )
}

// Not awaited: the scripts of a page import this one, so they would wait for each other for ever.
void drawPage()
