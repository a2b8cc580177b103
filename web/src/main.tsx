import { showTheme } from './look/first-theme.ts'
import { loadScriptsOfPage, router } from './router.tsx'
import { readsBegan } from './shell/page.ts'
import { languageOfDevice, showLanguage } from './words/words.ts'

/**
 * Requests everything that the page needs at once, so that React renders it in one step. This script is small, because
 * nothing else is requested before it has run: the scripts that draw are loaded meanwhile.
 */
async function drawPage() {
  const routed = router.load()
  const [, { draw }] = await withoutStacks([
    loadScriptsOfPage(), // tells which words the page needs
    loadDrawing(Promise.race([routed, readsBegan])),
    showLanguage(languageOfDevice()),
    routed,
  ])
  draw()
}

/** The index preloads this script. It runs while the server reads the data of the page, so it waits for the requests. */
async function loadDrawing(requests: Promise<void>) {
  await requests
  return import('./draw.tsx')
}

/**
 * React and Mantine create errors while they start, and throw them only later. For the stack of an error the browser would
 * parse the whole script again.
 */
async function withoutStacks<T extends unknown[]>(loading: [...T]) {
  const usual = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return await Promise.all(loading)
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
 * Asks for both files of the font before the first layout: an English page shows Russian texts of messages. If they are
 * decoded when the page is drawn, the browser does not lay out every text a second time. Without the font the page is
 * drawn with another one.
 */
const loadFont = () => document.fonts.load('1em Inter', 'AЯ')

showTheme()
void loadFont().catch(() => {})
// Without `await`: the scripts of a page import this module, so both would wait for each other forever.
void drawPage().catch(tellFailure)
