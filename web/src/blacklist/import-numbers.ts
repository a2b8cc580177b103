import type { BlacklistImport, ImportAnswer } from '../../../src/http/cabinet/blacklist.ts'
import type { Wire } from '../api.ts'
import { type Candidate, candidatesOf, type Fault } from '../new-dispatch/recipients/candidates.ts'
import { matchColumns } from '../new-dispatch/recipients/columns.ts'
import { lookAt } from '../new-dispatch/recipients/look.ts'
import { postUntilAnswered } from '../new-dispatch/recipients/post.ts'
import type { BadLine, Place } from '../new-dispatch/recipients/tasks.ts'
import { MOST_NUMBERS } from './most-numbers.ts'

/** What the page asks its worker to do. */
export type ImportTask = { file: Blob; fileName: string; comment: string; place: Place }

export type ImportReport = {
  rows: number
  added: number
  alreadyThere: number
  duplicates: number
  bad: number
  /** The first bad lines. */
  examples: BadLine[]
  /** So many at most. */
  badLines: BadLine[]
  /** The file has more numbers than are taken. */
  isCut: boolean
}

type Telling = { onProgress(done: number): void; onWaiting(): void }

const AT_ONCE = 10_000
const MOST_BAD_LINES = 10_000
const MOST_EXAMPLES = 5

/** Reads the numbers of a file and puts them on the blacklist, piece by piece. Done again, it adds what is missing. */
export async function importNumbers(task: ImportTask, telling: Telling): Promise<ImportReport> {
  const { form, columns } = await lookAt(task.file)
  const number = Math.max(0, matchColumns(columns, []).number)
  const report = emptyReport()
  let batch: Candidate[] = []
  let taken = 0
  const send = async () => {
    if (batch.length > 0) count(report, await post(task, batch, telling))
    batch = []
    telling.onProgress(report.rows)
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

/** The plus says that the number has its country code. */
function post({ place, fileName, comment }: ImportTask, batch: Candidate[], { onWaiting }: Telling) {
  const numbers = batch.map(({ digits }) => `+${digits}`)
  const body: BlacklistImport = { numbers, fileName: fileName.slice(0, 255), comment }
  return postUntilAnswered<Wire<ImportAnswer>>(place, '/blacklist/import', body, { onWaiting })
}

function count(report: ImportReport, { added, alreadyThere, refused }: Wire<ImportAnswer>) {
  report.added += added
  report.alreadyThere += alreadyThere
  report.bad += refused.length
}
