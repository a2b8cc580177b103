import { notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { LedgerEntry, LedgerLine, LineFilter, LinePlace } from './line.ts'
import * as store from './line-store.ts'

export type LedgerPage = {
  lines: LedgerLine[]
  /** The balance after the last movement of each day. */
  dayEnds: { day: string; balance: Money }[]
  next: LinePlace | null
}

export async function pageOfLines(
  sql: Sql,
  companyId: number,
  filter: LineFilter,
  after: LinePlace | undefined,
  size: number,
): Promise<LedgerPage> {
  const found = await store.selectLines(sql, companyId, filter, after, size + 1)
  const lines = found.slice(0, size)
  const last = found.length > size ? lines.at(-1)! : undefined
  const dayEnds = await store.selectDayEnds(sql, companyId, [...new Set(lines.map(({ day }) => day))])
  return { lines, dayEnds, next: last ? { day: last.day, lineId: last.lineId } : null }
}

/** All lines of a period, a page at a time: the next is read when the reader has taken the last. */
export async function* everyLine(
  sql: Sql,
  companyId: number,
  filter: LineFilter,
  size = 1000,
): AsyncGenerator<LedgerLine[]> {
  let after: LinePlace | undefined
  do {
    const lines: LedgerLine[] = await store.selectLines(sql, companyId, filter, after, size)
    if (lines.length > 0) yield lines
    after = lines.length === size ? lines.at(-1) : undefined
  } while (after)
}

/** The entries behind a line. `before` is the last entry of the page before. */
export async function entriesOfLine(
  sql: Sql,
  companyId: number,
  place: LinePlace,
  before: number | undefined,
  size: number,
): Promise<{ entries: LedgerEntry[]; next: number | null }> {
  const [line] = await store.selectLineKey(sql, companyId, place)
  if (!line) throw notFound('Line of the ledger')
  const found = await store.selectEntries(sql, companyId, line, before, size + 1)
  const entries = found.slice(0, size)
  return { entries, next: found.length > size ? entries.at(-1)!.entryId : null }
}
