import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { wholeBrowserPath } from '../e2e/browser.ts'
import { aPerson, ofCompany, staff } from '../src/testing/cabinet.ts'
import { serveCabinet, signIn } from './cabinet-service.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'cabinet'
export const about = 'largest paint of each page beside a bare static page, and the layout shift (needs Chromium)'

const ROUNDS = 5
/** A browser keeps a file at the first visit, notes at the second that it comes back, and keeps it compiled. */
const VISITS_BEFORE = 3
const MESSAGES = 10_000
const MOST_RATIO = 4
const MOST_SHIFT = 0.05
const TIMEOUT_MS = 60_000

/** Pages of a company and pages of staff. */
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
 * Opens each page by its address, as from a link, in a browser that has opened it before and keeps its files in a
 * folder of its own: what a person does all day. (A private window, which tests use, compiles all scripts at each
 * visit.) The very first visit is measured apart. A page is settled when its last request has been answered.
 */
export async function run(): Promise<Figure[]> {
  if (wholeBrowserPath === undefined) throw new Error('there is no Chromium: set TIDINGS_CHROMIUM')
  const bare = await serveBare()
  try {
    return await onStage(async stage => {
      await throughEngine(stage, await startSending(stage), MESSAGES)
      const { origin, close } = await serveCabinet(stage)
      try {
        return await measure(stage, origin, bare.origin)
      } finally {
        await close()
      }
    })
  } finally {
    bare.close()
  }
}

async function measure(stage: Stage, origin: string, bare: string): Promise<Figure[]> {
  const owner = await aPerson(stage.sql, ofCompany(stage.companyId), 'owner')
  const admin = await aPerson(stage.sql, staff, 'admin')
  const cold = await inBrowser(async browser => (await look(browser, `${origin}/cabinet/`)).paint)
  const pages = [
    ...(await measurePages(owner.login, ofOwner, origin, bare)),
    ...(await measurePages(admin.login, ofStaff, origin, bare)),
  ]
  return [
    { what: 'the bare page', value: median(pages.map(({ floor }) => floor)), unit: 'ms' },
    { what: 'the first visit, without a cache: sign-in', value: cold, unit: 'ms' },
    ...pages.map(({ path, paint, ratio }) => ({
      what: `largest paint of ${path} (${Math.round(paint)} ms), to the bare page`,
      value: ratio,
      unit: '',
      target: { most: MOST_RATIO },
    })),
    {
      what: 'largest layout shift of a page',
      value: Math.max(...pages.map(({ shift }) => shift)),
      unit: '',
      target: { most: MOST_SHIFT },
    },
  ]
}

const measurePages = (login: string, paths: string[], origin: string, bare: string) =>
  inBrowser(async browser => {
    const page = await browser.newPage()
    await page.goto(`${origin}/cabinet/account`)
    await signIn(page, login)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.close()
    const measured: ({ path: string } & Measured)[] = []
    for (const path of paths) {
      measured.push({ path, ...(await measurePage(browser, `${origin}/cabinet/${path}`, bare)) })
    }
    return measured
  })

/** With a profile on disk, as a person has one. */
async function inBrowser<T>(work: (browser: BrowserContext) => Promise<T>): Promise<T> {
  const profile = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: wholeBrowserPath!,
    args: ['--no-sandbox'],
    locale: 'en-GB',
    viewport: { width: 1400, height: 900 },
  })
  try {
    browser.setDefaultTimeout(TIMEOUT_MS)
    await browser.addInitScript(observers)
    return await work(browser)
  } finally {
    await browser.close()
    await rm(profile, { recursive: true, force: true })
  }
}

type Measured = { paint: number; floor: number; ratio: number; shift: number }

async function measurePage(browser: BrowserContext, address: string, bare: string): Promise<Measured> {
  const rounds: { paint: number; floor: number; shift: number }[] = []
  for (let round = 0; round < VISITS_BEFORE + ROUNDS; round++) {
    const { paint: floor } = await look(browser, bare)
    rounds.push({ floor, ...(await look(browser, address)) })
  }
  const counted = rounds.slice(VISITS_BEFORE)
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

async function look(browser: BrowserContext, address: string): Promise<{ paint: number; shift: number }> {
  const page = await browser.newPage()
  try {
    await page.goto(address, { waitUntil: 'networkidle' })
    const missing = page.getByText('This page does not exist')
    if ((await missing.count()) > 0) throw new Error(`${address} is no page of the cabinet`)
    return (await page.evaluate('seen')) as { paint: number; shift: number }
  } finally {
    await page.close()
  }
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
