import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'

/** Has no window and no PDF viewer, and needs less processor time. */
const headlessPlaces = ['/usr/bin/chromium-headless-shell']

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const given = process.env.TIDINGS_CHROMIUM
const firstOf = (places: string[]) => given ?? places.find(path => existsSync(path))

/** The browser that people use: for measurements, and for pages that show PDF. */
export const wholeBrowserPath = firstOf(usualPlaces)
export const browserPath = firstOf([...headlessPlaces, ...usualPlaces])

/** Tests in a browser are skipped without a browser: `describe.skipIf(!hasBrowser)`. */
export const hasBrowser = browserPath !== undefined

/** A busy machine may be twenty times slower than a quiet machine. */
const TIMEOUT_MS = 120_000

/**
 * One browser for the file; every test has pages of its own, without storage of the others. With
 * `hasViewers` it is a browser with a PDF viewer, if the machine has one.
 */
export function useBrowser({ hasViewers = false } = {}) {
  let browser: Browser | undefined

  beforeAll(async () => {
    const executablePath = (hasViewers && wholeBrowserPath) || browserPath
    if (executablePath) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: TIMEOUT_MS })
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })
  afterAll(() => browser?.close())

  return {
    async newPage(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser!.newContext({ viewport: { width: 1000, height: 800 }, locale: 'en-GB', ...options })
      context.setDefaultTimeout(TIMEOUT_MS)
      return context.newPage()
    },
  }
}
