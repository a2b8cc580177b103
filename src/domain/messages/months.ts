import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as store from './months-store.ts'

export {
  closedTraffic,
  isLockTimeout,
  lockMonths,
  messageSums,
  reachedRecipients,
  trafficOfMonth,
} from './months-store.ts'

/** A month of message keys, in UTC, such as `2026-05`. */
export type Month = {
  month: string
  /** `closable`: all its messages are final, so it can be detached. */
  state: 'open' | 'closable' | 'detached'
  messages: number
  /** With the indexes. Null if its table was dropped. */
  sizeBytes: number | null
  /** The reason why an open month cannot be detached. */
  reason: string | null
}

export type Detachment = { month: string } & (
  | { kind: 'detached'; messages: number; table: string }
  | { kind: 'refused'; reason: string }
)

export async function listMonths(sql: Sql, now: Date): Promise<Month[]> {
  const months: Month[] = []
  for (const known of await knownMonths(sql)) {
    const reason = known.isAttached ? await objectionTo(sql, known.month, now) : undefined
    const state = stateOf(known.isAttached, reason)
    months.push({ month: known.month, state, ...(await extentOf(sql, known)), reason: reason ?? null })
  }
  return months
}

type KnownMonth = { month: string; isAttached: boolean; hasTable: boolean; closedMessages: number }

/** All months, the oldest first: attached months, and detached months, also if their tables were dropped. */
async function knownMonths(sql: Sql): Promise<KnownMonth[]> {
  const months = new Map<string, KnownMonth>()
  for (const table of await store.selectMonthTables(sql))
    months.set(table.month, { ...table, hasTable: true, closedMessages: 0 })
  for (const { month, messages } of await store.selectClosedMonths(sql))
    months.set(month, { month, isAttached: false, hasTable: false, ...months.get(month), closedMessages: messages })
  return [...months.values()].sort((a, b) => (a.month < b.month ? -1 : 1))
}

const COUNTED_BYTES = 128 * 1024 * 1024

/** The messages of a small month are counted. A large month has the estimate of PostgreSQL. */
async function extentOf(sql: Sql, { month, isAttached, hasTable, closedMessages }: KnownMonth) {
  const [size] = hasTable ? await store.selectSize(sql, month) : []
  const sizeBytes = size?.bytes ?? null
  if (!isAttached) return { messages: closedMessages, sizeBytes }
  if (size && size.bytes > COUNTED_BYTES && size.estimate >= 0) return { messages: size.estimate, sizeBytes }
  const [counted] = await store.countMessages(sql, month)
  return { messages: counted?.messages ?? 0, sizeBytes }
}

const stateOf = (isAttached: boolean, reason: string | undefined): Month['state'] =>
  isAttached ? (reason === undefined ? 'closable' : 'open') : 'detached'

const objectionTo = async (sql: Sql, month: string, now: Date): Promise<string | undefined> =>
  refuseYoung(month, now) ?? (await refuseUnfinished(sql, month))

/**
 * Detaches the months before the newest `keepMonths`, the oldest first. The current month counts. A month that must still
 * change is left out (`mustWait`): the service does not change detached months.
 */
export async function detachOldMonths(
  pool: Pool,
  keepMonths: number,
  now: Date,
  mustWait: (month: string) => Promise<boolean> = async () => false,
): Promise<Detachment[]> {
  const oldest = monthBefore(now, keepMonths - 1)
  const done: Detachment[] = []
  for (const month of await attachedMonths(pool)) {
    if (month < oldest && !(await mustWait(month))) done.push(await detachMonth(pool, month, now))
  }
  return done
}

/**
 * Closes a month into sums and detaches its table, in one transaction. The ledger can be verified from the sums without the
 * messages. The table stays, and the operator of the service archives or drops it.
 *
 * The service continues while the sums are computed, which takes as long as reading the month. The month does not change
 * meanwhile: only the erasure of a number changes final messages, and it takes the same lock of the months; and a key contains
 * the time of its creation, so no message is added to a month that ended a month ago. Only the detachment locks the messages, for a moment.
 */
export async function detachMonth(pool: Pool, month: string, now: Date): Promise<Detachment> {
  const detachment = pool.begin('isolation level repeatable read', async (sql): Promise<Detachment> => {
    await store.lockMonths(sql)
    const refusal =
      (await refuseDetaching(sql, month, now)) ?? (await refusePending(sql, month)) ?? (await refuseBusy(sql, month))
    if (refusal !== undefined) return { month, kind: 'refused', reason: refusal }

    await store.storeSums(sql, month)
    await store.detachPartition(sql, month)
    const [sum] = await store.countSummed(sql)
    return { month, kind: 'detached', messages: sum?.messages ?? 0, table: store.tableOf(month) }
  })
  return detachment.catch(error => {
    if (store.isLockTimeout(error)) return { month, kind: 'refused', reason: BUSY }
    throw error
  })
}

const BUSY = 'a long transaction, such as a backup or a verification, uses the messages; try again later'

/** The reason why a month cannot be detached, from the checks that are fast. */
export const refuseDetaching = async (sql: Sql, month: string, now: Date): Promise<string | undefined> =>
  (await refuseAbsent(sql, month)) ?? (await objectionTo(sql, month, now))

async function refuseAbsent(sql: Sql, month: string): Promise<string | undefined> {
  const found = (await knownMonths(sql)).find(known => known.month === month)
  if (!found) return 'there is no such month'
  if (!found.isAttached) return 'it is detached already'
}

function refuseYoung(month: string, now: Date): string | undefined {
  if (month > monthBefore(now, 0)) return 'it has not begun yet'
  if (month === monthBefore(now, 0)) return 'it is the current month'
  if (month === monthBefore(now, 1)) return 'it is the last month, and some of its messages may not be final'
}

const monthBefore = (now: Date, count: number) =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 7)

async function refuseUnfinished(sql: Sql, month: string): Promise<string | undefined> {
  const [found] = await store.selectUnfinished(sql, month)
  if (!found) return undefined
  const { companyId, dispatchId, uuid, status, others } = found
  if (dispatchId === null) return `message ${uuid} of company ${companyId} is ${status}, and not final`
  const more = others > 0 ? ` (and ${others} more like it)` : ''
  return `dispatch ${dispatchId} of company ${companyId} is ${status}, not COMPLETED${more}`
}

/** Reads every message of the month, so this check is exact. */
async function refusePending(sql: Transaction, month: string): Promise<string | undefined> {
  await store.sumMonth(sql, month)
  const [found] = await store.selectPendingSum(sql)
  if (!found) return undefined
  const { companyId, dispatchId, messages } = found
  const whose = dispatchId === null ? `company ${companyId}` : `dispatch ${dispatchId} of company ${companyId}`
  return `${messages} of the messages of ${whose} are not final`
}

async function refuseBusy(sql: Sql, month: string): Promise<string | undefined> {
  const [row] = await store.lockMessages(sql, month)
  return row?.locked ? undefined : BUSY
}

/** The months that are attached, the oldest first. */
export const attachedMonths = async (sql: Sql): Promise<string[]> =>
  (await store.selectAttachedMonths(sql)).map(({ month }) => month)
