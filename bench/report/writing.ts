import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chartsOf } from './charts.ts'
import { pageOf } from './page.ts'
import type { Entry } from './plan.ts'
import { inOrder, type Results } from './results.ts'

const PAGE = new URL('../../docs/performance.md', import.meta.url)
const CHARTS = new URL('../../docs/performance/', import.meta.url)

/** Writes docs/performance.md and its charts from the results. */
export async function writePage(plan: Entry[], given: Results) {
  const results = inOrder(plan, given)
  const [text, tried] = await Promise.all(['page.md', 'tried.md'].map(readText))
  await mkdir(CHARTS, { recursive: true })
  for (const [name, svg] of chartsOf(results)) await writeFile(new URL(name, CHARTS), svg)
  await writeFile(PAGE, pageOf(plan, results, { text: text ?? '', tried: tried ?? '' }))
  console.log(`Written: ${fileURLToPath(PAGE)}`)
}

const readText = (name: string) => readFile(new URL(name, import.meta.url), 'utf8')
