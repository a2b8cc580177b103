import { foreignCountryOf, isRussian, normaliseNumber } from '../../base/phone/phone-number.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { brandFinder } from './brand.ts'
import { codeOf, Numbering, type Place } from './lookup.ts'
import { includedPlan } from './plan.ts'
import { PortedNumbers } from './ported.ts'
import type { PlanRange } from './register.ts'
import * as store from './store.ts'

export type { Numbering, Place } from './lookup.ts'

export type Classified =
  | { kind: 'russian'; digits: string; brandId: number; place: Place }
  | { kind: 'foreign'; digits: string; country: string }
  | { kind: 'refused' } // no number, a length that its country does not have, or a Russian number of no range

const POLL_MS = 5_000

const refused: Classified = { kind: 'refused' }

/** What a destination is, as the client wrote it. */
export function classify(numbering: Numbering, raw: string): Classified {
  const digits = normaliseNumber(raw)
  if (digits === undefined) return refused
  return isRussian(digits) ? classifyRussian(numbering, digits) : classifyForeign(digits)
}

function classifyRussian(numbering: Numbering, digits: string): Classified {
  const place = numbering.lookup(digits)
  return place ? { kind: 'russian', digits, brandId: place.brandId, place } : refused
}

function classifyForeign(digits: string): Classified {
  const country = foreignCountryOf(digits)
  return country ? { kind: 'foreign', digits, country } : refused
}

/** The plan as it stands at one moment; codes without imported ranges are served by the plan that we carry. */
export async function loadNumbering(sql: Pool): Promise<Numbering> {
  return sql.begin('isolation level repeatable read read only', async tx => {
    await allowLongWork(tx) // millions of numbers are put in order between two statements
    const version = await store.findVersion(tx)
    const brandOfOperator = brandFinder(await store.findVirtualOperators(tx))
    const imported = await loadRanges(tx)
    return new Numbering(version, [...imported, ...carriedFor(imported)], await loadPorted(tx), brandOfOperator)
  })
}

async function loadRanges(tx: Transaction): Promise<PlanRange[]> {
  const operators = new Map((await store.findOperators(tx)).map(operator => [operator.operatorId, operator]))
  const ranges: PlanRange[] = []
  for await (const rows of store.findRanges(tx)) {
    for (const row of rows) ranges.push({ ...row, operator: operators.get(row.operatorId)! })
  }
  return ranges
}

function carriedFor(imported: PlanRange[]): PlanRange[] {
  const codes = new Set(imported.map(range => codeOf(range.first)))
  return includedPlan().filter(range => !codes.has(codeOf(range.first)))
}

async function loadPorted(tx: Transaction): Promise<Map<number, PortedNumbers>> {
  const ported = new Map<number, PortedNumbers>()
  for await (const rows of store.findPorted(tx)) {
    for (const { code, packed } of rows) ported.set(code, new PortedNumbers(integersIn(packed)))
  }
  return ported
}

function integersIn(bytes: Buffer): Uint32Array {
  const integers = new Uint32Array(bytes.length / 4)
  for (let i = 0; i < integers.length; i += 1) integers[i] = bytes.readUInt32BE(i * 4)
  return integers
}

export interface NumberingWatch {
  /** The newest plan that was loaded. */
  current(): Numbering
  /** Loads the plan again if it has changed. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/**
 * Loads the plan and keeps it fresh without a restart: asks for its version every few seconds. When that fails the
 * loaded plan stays, and `onError` gets the error.
 */
export async function watchNumbering(
  sql: Pool,
  options: { pollMs?: number; onError: (error: unknown) => void },
): Promise<NumberingWatch> {
  let current = await loadNumbering(sql)
  let lastRefresh = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  // One after the other, so that a refresh sees every change committed before it was asked for.
  const refresh = () => {
    lastRefresh = lastRefresh.catch(() => {}).then(loadIfChanged)
    return lastRefresh
  }
  const loadIfChanged = async () => {
    if ((await store.findVersion(sql)) !== current.version) current = await loadNumbering(sql)
  }
  const poll = async () => {
    await refresh().catch(options.onError)
    pollLater()
  }
  const pollLater = () => {
    if (!stopped) timer = setTimeout(poll, options.pollMs ?? POLL_MS).unref()
  }
  const stop = async () => {
    stopped = true
    clearTimeout(timer)
    await lastRefresh.catch(() => {})
  }

  pollLater()
  return { current: () => current, refresh, stop }
}

/** Deletes a ported number. The next import of the register brings the number back. */
export async function forgetPorted(sql: Transaction, digits: string): Promise<void> {
  if ((await store.deletePorted(sql, Number(digits))).count > 0) await store.raiseVersion(sql)
}

/** Whether an uploaded file of ported numbers waits. Housekeeping deletes it after an hour. */
export async function hasPortedUpload(sql: Sql): Promise<boolean> {
  return (await store.selectPortedUpload(sql)).length > 0
}
