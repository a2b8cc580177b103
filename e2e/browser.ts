import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const given = process.env.TIDINGS_CHROMIUM
export const browserPath = given ?? usualPlaces.find(path => existsSync(path))

/** Tests in a browser are skipped where there is none: `describe.skipIf(!hasBrowser)`. */
export const hasBrowser = browserPath !== undefined

/** A machine may be twenty times slower than ours. */
const TIMEOUT_MS = 120_000

/** One browser for the file; every test has pages of its own, without storage of the others. */
export function useBrowser() {
  let browser: Browser | undefined

  beforeAll(async () => {
    if (hasBrowser)
      browser = await chromium.launch({ executablePath: browserPath!, args: ['--no-sandbox'], timeout: TIMEOUT_MS })
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
