import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { wholeBrowserPath } from '../e2e/browser.ts'
import { aPerson, ofCompany } from '../src/testing/cabinet.ts'
import { anApprovedSender } from '../src/testing/factories.ts'
import { aWorkbook } from '../src/testing/workbook.ts'
import { serveCabinet, signIn } from './cabinet-service.ts'
import type { Figure } from './figures.ts'
import { onStage, type Stage } from './stage.ts'

export const name = 'cabinet-upload'
export const about = 'a file of 1,000,000 recipients read and checked in the browser (needs Chromium; Linux)'

const ROWS = 1_000_000
const FEW_ROWS = 10_000
/** A page that does nothing for longer than this is felt to be stuck. */
const LONGEST_TASK_MS = 200
/** What a file of a million rows may take beyond one of ten thousand. */
const MOST_MORE_MIB = 400
const TIMEOUT_MS = 1_800_000

/** Opens the wizard, gives it a file, and watches the thread of the page and the memory of its process meanwhile. */
export async function run(): Promise<Figure[]> {
  if (wholeBrowserPath === undefined) throw new Error('there is no Chromium: set TIDINGS_CHROMIUM')
  const folder = await mkdtemp(join(tmpdir(), 'tidings-upload-'))
  const browser = await chromium.launch({ executablePath: wholeBrowserPath, args: ['--no-sandbox'] })
  try {
    return await onStage(async stage => {
      await anApprovedSender(stage.sql, stage.companyId, { senderName: 'BENCH', brand: 'MTS' })
      const { origin, close } = await serveCabinet(stage)
      try {
        return await measure(browser, { origin, stage, folder })
      } finally {
        await close()
      }
    })
  } finally {
    await browser.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Scene = { origin: string; stage: Stage; folder: string }

async function measure(browser: Browser, scene: Scene): Promise<Figure[]> {
  const few = await readOne(browser, scene, await csvFile(scene.folder, FEW_ROWS))
  const csv = await readOne(browser, scene, await csvFile(scene.folder, ROWS))
  const xlsx = await readOne(browser, scene, await xlsxFile(scene.folder, ROWS))
  const figuresOf = (what: string, seen: Seen): Figure[] => [
    { what: `${what}, read and checked`, value: seen.seconds, unit: 's' },
    {
      what: `${what}, longest task of the page`,
      value: seen.longestTaskMs,
      unit: 'ms',
      target: { most: LONGEST_TASK_MS },
    },
    {
      what: `${what}, memory beyond ${FEW_ROWS.toLocaleString('en')} rows`,
      value: seen.mostMib - few.mostMib,
      unit: 'MiB',
      target: { most: MOST_MORE_MIB },
    },
  ]
  return [
    { what: 'memory with 10,000 rows', value: few.mostMib, unit: 'MiB' },
    ...figuresOf('CSV', csv),
    ...figuresOf('XLSX', xlsx),
  ]
}

type Seen = { seconds: number; longestTaskMs: number; mostMib: number }

async function readOne(browser: Browser, { origin, stage }: Scene, { path, rows }: RecipientsFile): Promise<Seen> {
  const { login } = await aPerson(stage.sql, ofCompany(stage.companyId), 'sender')
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1400, height: 900 } })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(TIMEOUT_MS)
    await openRecipients(page, origin, login)
    const memory = await watchMemory(page)
    await watchTasks(page)
    const start = performance.now()
    await page.locator('input[type=file]').setInputFiles(path)
    await page.getByText(`${rows.toLocaleString('en')} lines,`).waitFor()
    const seconds = (performance.now() - start) / 1000
    const longestTaskMs = Number(await page.evaluate('Math.max(0, ...tasks)'))
    return { seconds, longestTaskMs, mostMib: memory.stop() }
  } finally {
    await context.close()
  }
}

/**
 * The browser tells of tasks of 50 ms and more; 0 stands for none. Its word is tried first with a task that is too
 * long.
 */
async function watchTasks(page: Page) {
  await page.evaluate(`globalThis.tasks = []; new PerformanceObserver(list =>
    tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })`)
  await page.evaluate('setTimeout(() => { for (const end = performance.now() + 100; performance.now() < end; ); })')
  await page.waitForFunction('tasks.length > 0')
  await page.evaluate('tasks.length = 0')
}

async function openRecipients(page: Page, origin: string, login: string) {
  await page.goto(`${origin}/cabinet/dispatches/new`)
  await signIn(page, login)
  await page.getByRole('textbox', { name: 'Name of the dispatch' }).fill('Bench')
  await page.getByRole('combobox', { name: 'Sender name' }).selectOption('BENCH')
  await page.getByRole('textbox', { name: 'Text of the message' }).fill('{name}, hello')
  await page.getByRole('button', { name: 'Continue to Recipients' }).click()
  await page.locator('input[type=file]').waitFor({ state: 'attached' })
}

const LOOK_EVERY_MS = 250

/** The page and its worker share one process. Its resident memory is read from the system. */
async function watchMemory(page: Page) {
  const session = await page.context().browser()!.newBrowserCDPSession()
  let mostMib = 0
  const look = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer')
    const sizes = await Promise.all(renderers.map(({ id }) => residentMib(id)))
    mostMib = Math.max(mostMib, ...sizes)
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS)
  return {
    stop: () => {
      clearInterval(timer)
      return mostMib
    },
  }
}

const PAGE_BYTES = 4096

async function residentMib(pid: number): Promise<number> {
  const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')
  return (Number(pages) * PAGE_BYTES) / 2 ** 20
}

type RecipientsFile = { path: string; rows: number }

const numberAt = (row: number) => 79_160_000_000 + row

async function csvFile(folder: string, rows: number): Promise<RecipientsFile> {
  const path = join(folder, `${rows}.csv`)
  const file = await open(path, 'w')
  await file.write('phone;name;city\n')
  for (let row = 0; row < rows; row += FEW_ROWS) {
    const lines = Array.from({ length: FEW_ROWS }, (_, i) => `${numberAt(row + i)};Anna ${row + i};Moscow\n`)
    await file.write(lines.join(''))
  }
  await file.close()
  return { path, rows }
}

async function xlsxFile(folder: string, rows: number): Promise<RecipientsFile> {
  const path = join(folder, `${rows}.xlsx`)
  const cells = Array.from({ length: rows }, (_, row) => [numberAt(row), `Anna ${row}`, 'Moscow'])
  const workbook = await aWorkbook([['phone', 'name', 'city'], ...cells], 'shared')
  await writeFile(path, new Uint8Array(await workbook.arrayBuffer()))
  return { path, rows }
}
