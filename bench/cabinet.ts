import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { wholeBrowserPath } from '../e2e/browser.ts'
import { aPerson, ofCompany, staff } from '../src/testing/cabinet.ts'
import { serveCabinet, signIn } from './cabinet-service.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'cabinet'
export const about = 'largest paint of each page beside a bare static page, and the layout shift (needs Chromium)'

const ROUNDS = 5
const MESSAGES = 10_000
const MOST_RATIO = 4
const MOST_SHIFT = 0.05
const TIMEOUT_MS = 60_000

/** Pages of a company, and those of staff. */
const ofOwner = [
  'overview',
  'dispatches',
  'dispatches/1',
  'dispatches/new',
  'messages',
  'send',
  'senders',
  'templates',
  'links',
  'inbound',
  'verification',
  'blacklist',
  'money',
  'developers',
  'people',
  'audit',
  'account',
]
const ofStaff = ['review', 'gateways', 'companies', 'partners', 'tariffs', 'numbering', 'health']

/**
 * Opens each page by its address, as from a link, with the scripts in the browser's cache: what a person does all day.
 * The very first visit is measured apart. A page is settled when its last request has been answered.
 */
export async function run(): Promise<Figure[]> {
  if (wholeBrowserPath === undefined) throw new Error('there is no Chromium: set TIDINGS_CHROMIUM')
  const browser = await chromium.launch({ executablePath: wholeBrowserPath, args: ['--no-sandbox'] })
  const bare = await serveBare()
  try {
    return await onStage(async stage => {
      await throughEngine(stage, await startSending(stage), MESSAGES)
      const { origin, close } = await serveCabinet(stage)
      try {
        return await measure(browser, stage, origin, bare.origin)
      } finally {
        await close()
      }
    })
  } finally {
    bare.close()
    await browser.close()
  }
}

async function measure(browser: Browser, stage: Stage, origin: string, bare: string): Promise<Figure[]> {
  const owner = await aPerson(stage.sql, ofCompany(stage.companyId), 'owner')
  const admin = await aPerson(stage.sql, staff, 'admin')
  const cold = await coldPaint(browser, origin)
  const company = await signedIn(browser, origin, owner.login)
  const service = await signedIn(browser, origin, admin.login)
  const figures: Figure[] = []
  const floors: number[] = []
  let worstShift = 0
  for (const [context, paths] of [
    [company, ofOwner],
    [service, ofStaff],
  ] as const) {
    for (const path of paths) {
      const { paint, floor, ratio, shift } = await measurePage(context, `${origin}/cabinet/${path}`, bare)
      floors.push(floor)
      worstShift = Math.max(worstShift, shift)
      figures.push({
        what: `${path}, ${Math.round(paint)} ms`,
        value: ratio,
        unit: 'times',
        target: { most: MOST_RATIO },
      })
    }
  }
  return [
    { what: 'the bare page', value: median(floors), unit: 'ms' },
    { what: 'the first visit, without a cache: sign-in', value: cold, unit: 'ms' },
    ...figures,
    { what: 'largest layout shift of a page', value: worstShift, unit: '', target: { most: MOST_SHIFT } },
  ]
}

async function signedIn(browser: Browser, origin: string, login: string): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1400, height: 900 } })
  context.setDefaultTimeout(TIMEOUT_MS)
  await context.addInitScript(observers)
  const page = await context.newPage()
  await page.goto(`${origin}/cabinet/account`)
  await signIn(page, login)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.close()
  return context
}

async function measurePage(context: BrowserContext, address: string, bare: string) {
  const rounds: { paint: number; floor: number; shift: number }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const { paint: floor } = await look(context, bare)
    rounds.push({ floor, ...(await look(context, address)) })
  }
  const counted = rounds.slice(1) // the first one fills the cache
  return {
    paint: median(counted.map(round => round.paint)),
    floor: median(counted.map(round => round.floor)),
    ratio: median(counted.map(round => round.paint / round.floor)),
    shift: Math.max(...counted.map(round => round.shift)),
  }
}

const observers = `globalThis.seen = { paint: 0, shift: 0 }
new PerformanceObserver(list => { seen.paint = list.getEntries().at(-1).startTime })
  .observe({ type: 'largest-contentful-paint', buffered: true })
new PerformanceObserver(list => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) seen.shift += value
}).observe({ type: 'layout-shift', buffered: true })`

async function look(context: BrowserContext, address: string): Promise<{ paint: number; shift: number }> {
  const page = await context.newPage()
  try {
    await page.goto(address, { waitUntil: 'networkidle' })
    const missing = page.getByText('There is no such page')
    if ((await missing.count()) > 0) throw new Error(`${address} is no page of the cabinet`)
    return (await page.evaluate('seen')) as { paint: number; shift: number }
  } finally {
    await page.close()
  }
}

async function coldPaint(browser: Browser, origin: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } })
  await context.addInitScript(observers)
  const { paint } = await look(context, `${origin}/cabinet/`)
  await context.close()
  return paint
}

/** A heading, a table, a few rules: what a page of this size costs without any script. */
async function serveBare() {
  const rows = Array.from({ length: 20 }, (_, i) => `<tr><td>Message ${i}</td><td>Delivered</td><td>1.50</td></tr>`)
  const html = `<!doctype html><html lang="en"><head><title>Bare</title><style>body{font:14px sans-serif}td{padding:8px}</style></head>
    <body><h1>A bare page</h1><table>${rows.join('')}</table></body></html>`
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(html))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://localhost:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
}
