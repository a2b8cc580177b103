import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wholeBrowserPath } from '../e2e/browser.ts'
import { aPerson, ofCompany, staff } from '../src/testing/cabinet.ts'
import { serveCabinet, signIn } from './cabinet-service.ts'
import { startSending, throughEngine } from './engine.ts'
import { type Figure, median } from './figures.ts'
import { type Look, PlainBrowser } from './plain-browser.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'cabinet'
export const about = 'largest paint of each page beside a bare static page, and the layout shift (needs Chromium)'

const ROUNDS = 7
/** A browser keeps a file at the first visit, notes at the second that it comes back, and keeps it compiled. */
const VISITS_BEFORE = 3
const MESSAGES = 10_000
const MOST_RATIO = 4
const MOST_SHIFT = 0.05
/** A page has its data and its last paint after this time, a bare page much earlier. */
const SETTLED_MS = 1500
const BARE_MS = 500

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
 * visit.) The very first visit is measured apart.
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
  const cold = await inBrowser(async browser => (await look(browser, `${origin}/cabinet/`, false)).paint)
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
    await browser.prepare(async context => {
      const page = await context.newPage()
      await page.goto(`${origin}/cabinet/account`)
      await signIn(page, login)
      await page.close()
    })
    const measured: ({ path: string } & Measured)[] = []
    for (const path of paths) {
      measured.push({ path, ...(await measurePage(browser, `${origin}/cabinet/${path}`, bare)) })
    }
    return measured
  })

async function inBrowser<T>(work: (browser: PlainBrowser) => Promise<T>): Promise<T> {
  const browser = await PlainBrowser.open(wholeBrowserPath!)
  try {
    return await work(browser)
  } finally {
    await browser.close()
  }
}

type Measured = { paint: number; floor: number; ratio: number; shift: number }

async function measurePage(browser: PlainBrowser, address: string, bare: string): Promise<Measured> {
  const rounds: { paint: number; floor: number; shift: number }[] = []
  for (let round = 0; round < VISITS_BEFORE + ROUNDS; round++) {
    const { paint: floor } = await browser.look(bare, BARE_MS)
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

async function look(browser: PlainBrowser, address: string, isSignedIn = true): Promise<Omit<Look, 'text'>> {
  const { paint, shift, hasPlaceholders, text } = await browser.look(address, SETTLED_MS)
  const isWrong = /This page does not exist|Something went wrong|did not answer/.test(text)
  if (paint === 0 || hasPlaceholders || isWrong || text.includes('Audit log') !== isSignedIn) {
    throw new Error(`${address} does not show its page: ${text.slice(0, 200)}`)
  }
  return { paint, shift, hasPlaceholders }
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
