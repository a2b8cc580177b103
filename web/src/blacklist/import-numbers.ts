import type { BlacklistImport, ImportAnswer } from '../../../src/http/cabinet/messages/blacklist.ts'
import type { Wire } from '../api.ts'
import { type Candidate, candidatesOf, type Fault } from '../new-dispatch/recipients/reading/candidates.ts'
import { matchColumns } from '../new-dispatch/recipients/reading/columns.ts'
import { lookAt } from '../new-dispatch/recipients/reading/look.ts'
import { postUntilAnswered } from '../new-dispatch/recipients/reading/post.ts'
import type { BadLine, Place } from '../new-dispatch/recipients/reading/tasks.ts'
import { MOST_NUMBERS } from './most-numbers.ts'

/** The task that the page gives to its worker. */
export type ImportTask = { file: Blob; fileName: string; comment: string; place: Place }

export type ImportReport = {
  rows: number
  added: number
  alreadyThere: number
  duplicates: number
  bad: number
  /** The first invalid lines. */
  examples: BadLine[]
  /** The invalid lines, up to a limit. */
  badLines: BadLine[]
  /** True if the file has more numbers than one import accepts. */
  isCut: boolean
}

type ProgressListener = { onProgress(done: number): void; onWaiting(): void }

const AT_ONCE = 10_000
const MOST_BAD_LINES = 10_000
const MOST_EXAMPLES = 5

/**
 * Reads the numbers of a file and adds them to the blacklist in batches. A repeated import adds only missing numbers.
 */
export async function importNumbers(task: ImportTask, listener: ProgressListener): Promise<ImportReport> {
  const { form, columns } = await lookAt(task.file)
  const number = Math.max(0, matchColumns(columns, []).number)
  const report = emptyReport()
  let batch: Candidate[] = []
  let taken = 0
  const send = async () => {
    if (batch.length > 0) count(report, await post(task, batch, listener))
    batch = []
    listener.onProgress(report.rows)
  }
  for await (const candidate of candidatesOf(
    { file: task.file, form, columns: { number, placeholders: {} }, repeats: 'once' },
    watch(report),
  )) {
    report.isCut = taken === MOST_NUMBERS
    if (report.isCut) break
    taken += 1
    if (batch.push(candidate) === AT_ONCE) await send()
  }
  await send()
  return report
}

const emptyReport = (): ImportReport => ({
  rows: 0,
  added: 0,
  alreadyThere: 0,
  duplicates: 0,
  bad: 0,
  examples: [],
  badLines: [],
  isCut: false,
})

const watch = (report: ImportReport) => ({
  row: () => void report.rows++,
  duplicate: () => void report.duplicates++,
  bad: (fault: Fault, { line }: { line: number }, written: string) => {
    const bad = { line, written: written.slice(0, 64), fault }
    if (report.examples.length < MOST_EXAMPLES) report.examples.push(bad)
    if (report.bad++ < MOST_BAD_LINES) report.badLines.push(bad)
  },
})

/** The plus sign marks the digits as a number with a country code. */
function post({ place, fileName, comment }: ImportTask, batch: Candidate[], { onWaiting }: ProgressListener) {
  const numbers = batch.map(({ digits }) => `+${digits}`)
  const body: BlacklistImport = { numbers, fileName: fileName.slice(0, 255), comment }
  return postUntilAnswered<Wire<ImportAnswer>>(place, '/blacklist/import', body, { onWaiting })
}

function count(report: ImportReport, { added, alreadyThere, refused }: Wire<ImportAnswer>) {
  report.added += added
  report.alreadyThere += alreadyThere
  report.bad += refused.length
}
