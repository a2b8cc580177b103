import { showTheme } from './look/first-theme.ts'
import { loadScriptsOfPage, router } from './router.tsx'
import { languageOfDevice, showLanguage } from './words/words.ts'

/**
 * Requests everything that the page needs at once, so that React renders it in one step. This script is small, because
 * nothing else is requested before it has run: the scripts that draw are loaded meanwhile.
 */
async function drawPage() {
  const [{ draw }] = await Promise.all([
    loadDrawing(),
    showLanguage(languageOfDevice()),
    router.load(),
    loadScriptsOfPage(),
  ])
  draw()
}

/**
 * React and Mantine create errors while they start, and throw them only later. For the stack of an error the browser would
 * parse the whole script again.
 */
async function loadDrawing() {
  const usual = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return await import('./draw.tsx')
  } finally {
    Error.stackTraceLimit = usual
  }
}

/** The words of the pages may be missing too. */
const failures = {
  en: 'The page could not be loaded. Check the connection, then reload the page.',
  ru: 'Страница не загрузилась. Проверьте соединение и обновите страницу.',
}

function tellFailure(error: unknown) {
  const text = document.createElement('p')
  text.role = 'alert'
  text.textContent = failures[languageOfDevice()]
  document.getElementById('root')?.replaceChildren(text)
  throw error
}

/**
 * Asks for the font before the first layout. If it is decoded when the page is drawn, the browser does not lay out every
 * text a second time. Without the font the page is drawn with another one.
 */
const loadFont = () => document.fonts.load('1em Inter', languageOfDevice() === 'ru' ? 'AЯ' : 'A')

showTheme()
void loadFont().catch(() => {})
// Without `await`: the scripts of a page import this module, so both would wait for each other forever.
void drawPage().catch(tellFailure)
