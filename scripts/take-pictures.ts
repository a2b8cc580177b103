/**
 * Takes the pictures of the cabinet for the docs into `docs/pictures/`, from a demo of its own with some traffic.
 *
 *   npm run docs:pictures
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { wholeBrowserPath } from '../e2e/browser.ts'
import { someTraffic } from '../e2e/cabinet/overview-traffic.ts'
import { loadConfig } from '../src/config.ts'
import { openDatabase } from '../src/db/database.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'docs/pictures')
const PASSWORD = 'pictures of the demo'
const TIMEOUT_MS = 60_000

type Picture = {
  name: string
  login: 'company' | 'demo' | 'staff'
  path: string
  ready: (page: Page) => Promise<unknown>
  dark?: boolean
  narrow?: boolean
}

const heading = (name: string) => (page: Page) => page.getByRole('heading', { level: 1, name }).waitFor()
const row = (page: Page) => page.getByRole('row').nth(1).waitFor()

const pictures: Picture[] = [
  { name: 'overview', login: 'company', path: 'overview', ready: heading('Overview') },
  { name: 'new-dispatch', login: 'company', path: 'dispatches/new', ready: writeText },
  { name: 'dispatch', login: 'company', path: 'dispatches/1', ready: heading('Заказы готовы') },
  { name: 'messages', login: 'company', path: 'messages', ready: openFailed },
  { name: 'widget', login: 'company', path: 'verification', ready: openWidget },
  { name: 'gateways', login: 'staff', path: 'gateways', ready: row, dark: true },
  { name: 'overview-narrow', login: 'company', path: 'overview', ready: heading('Overview'), narrow: true },
  {
    name: 'dispatch-narrow',
    login: 'company',
    path: 'dispatches/1',
    ready: heading('Заказы готовы'),
    narrow: true,
    dark: true,
  },
]

async function writeText(page: Page) {
  await page.getByRole('textbox', { name: 'Name of the dispatch' }).fill('Orders are ready')
  await page.getByRole('textbox', { name: 'Text' }).fill('{name}, your order {order} is ready. Come until 21:00.')
}

async function openWidget(page: Page) {
  await page.getByRole('link', { name: 'Widget demo' }).click()
  await page.getByRole('heading', { level: 1, name: 'Widget demo' }).waitFor()
}

/** The life of a message that was not delivered says most. */
async function openFailed(page: Page) {
  await row(page)
  await page.getByRole('row').filter({ hasText: 'Undelivered' }).first().getByRole('link').first().click()
  await page.getByRole('link', { name: 'Whole life' }).waitFor()
}

async function main() {
  if (!wholeBrowserPath) throw new Error('there is no Chromium: set TIDINGS_CHROMIUM')
  const data = await mkdtemp(join(tmpdir(), 'tidings-pictures-'))
  const env = { ...process.env, TIDINGS_DATA: data, TIDINGS_DEMO_PASSWORD: PASSWORD, PORT: '0' }
  const service = spawn(join(root, 'bin/tidings'), ['serve', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const browser = await chromium.launch({ executablePath: wholeBrowserPath, args: ['--no-sandbox'] })
  try {
    const [line] = await once(createInterface(service.stdout), 'line')
    const { cabinet, demo } = JSON.parse(line)
    const { sql, close } = await openDatabase(loadConfig(env), {})
    await someTraffic(sql, demo.companyId, 900)
    await close()
    await mkdir(target, { recursive: true })
    for (const picture of pictures) await take(browser, cabinet, picture)
  } finally {
    await browser.close()
    service.kill('SIGTERM')
    await once(service, 'close')
    await rm(data, { recursive: true })
  }
}

async function take(browser: Browser, cabinet: string, { name, login, path, ready, dark, narrow }: Picture) {
  const context = await browser.newContext({
    viewport: narrow ? { width: 390, height: 844 } : { width: 1400, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const { origin } = new URL(cabinet)
  await page.request.post(`${origin}/cabinet/api/session`, { data: { login, password: PASSWORD }, headers: { origin } })
  await page.goto(new URL(path, cabinet).href)
  await ready(page)
  await page.waitForLoadState('networkidle')
  await writeFile(join(target, `${name}.webp`), await webp(browser, await page.screenshot()))
  await context.close()
  console.log(`docs/pictures/${name}.webp`)
}

/** The browser compresses a picture better than it writes a screenshot: a tenth of the bytes. */
async function webp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  const encoded = await page.evaluate(
    `(async () => {
      const picture = new Image()
      picture.src = 'data:image/png;base64,${png.toString('base64')}'
      await picture.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height })
      canvas.getContext('2d').drawImage(picture, 0, 0)
      return canvas.toDataURL('image/webp', 0.85)
    })()`,
  )
  await page.close()
  return Buffer.from(String(encoded).split(',')[1]!, 'base64')
}

await main()
