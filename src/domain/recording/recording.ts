import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { enqueueCallbacks } from '../callbacks/callbacks.ts'
import { reduceCreatedPrice } from '../dispatches/created-price.ts'
import { completeFinished } from '../dispatches/lifecycle.ts'
import { monthOf } from '../ledger/account.ts'
import { charge, lockAccount, lockStatuses } from '../ledger/ledger.ts'
import { releaseChargedPackages } from '../ledger/package-holds.ts'
import { countChanges, type StatusChange } from '../messages/messages.ts'
import { storeLateReceipts } from '../receipts/late-receipts.ts'
import { cleanStatusReport, type StatusReport } from '../receipts/status-report.ts'
import { storeOperatorIds } from '../receipts/submissions.ts'
import { countStatusChanges } from '../statistics/statistics.ts'
import type { TrafficKind } from '../statistics/traffic.ts'
import { chargeOf } from './charges.ts'
import type { RecordingContext } from './context.ts'
import { followUp, recordReads } from './follow-up.ts'
import { changeOfHolds } from './holds.ts'
import { partnerCallbacks } from './partner-callbacks.ts'
import { type RecentReads, recentReadsOf } from './recent-reads.ts'
import { isMessageCost, isPackageCost, settleDelivered } from './settlement.ts'
import { changeStatuses, joinReports } from './status-changes.ts'
import * as store from './store.ts'

/**
 * Writes what the engine learned about a company's messages in one transaction: status, counters, money, callbacks and the
 * operator's ids. A report that was recorded before changes nothing, so reports may be repeated, be late or come from
 * several processes. Returns the changes of statuses. `onCommit` is called when only the commit is left to do.
 */
export function recordStatusReports(
  pool: Pool,
  companyId: number,
  reports: StatusReport[],
  context: RecordingContext,
  onCommit: () => void = () => {},
): Promise<StatusChange[]> {
  return pool.begin(async sql => {
    const changes = await recordWithin(sql, pool, companyId, reports, context)
    onCommit()
    return changes
  })
}

/** The same inside a transaction of the caller. */
export async function recordWithin(
  sql: Transaction,
  pool: Pool,
  companyId: number,
  given: StatusReport[],
  context: RecordingContext,
): Promise<StatusChange[]> {
  const reports = given.map(cleanStatusReport)
  const month = monthOf(context.now, context.billingZone)
  const joined = joinReports(reports)
  const recent = recentReadsOf(pool)
  // Sent together. The lock is first: the statements of a connection run in the order in which they are sent.
  const [{ currency }, changes, , likely] = await Promise.all([
    lockStatuses(sql, companyId),
    changeStatuses(sql, companyId, joined),
    storeOperatorIds(sql, companyId, reports, context.now),
    readDispatches(sql, companyId, recent.likelyDispatches(companyId)),
  ])
  await storeLateReceipts(sql, companyId, joined, changes, context.now)
  const [dispatches, costs] = await Promise.all([
    dispatchesOf(sql, companyId, changes, likely, recent),
    settleDelivered(sql, companyId, month, changes, recent),
  ])
  const held = await changeOfHolds(sql, companyId, changes, dispatches)
  const packages = await releaseChargedPackages(sql, companyId, costs.filter(isPackageCost))
  const kindOf = kindBy(dispatches)
  const charges = { ...chargeOf(costs, currency, month, kindOf), reserved: held - packages }
  const callbacks = partnerCallbacks(changes, dispatches)
  // The account is locked as late as possible, because accepting messages waits for it.
  const account = lockAccount(sql, companyId, month)
  const [settled] = await Promise.all([
    countChanges(sql, companyId, changes),
    charge(sql, companyId, account, charges, context),
    reduceCreated(sql, companyId, changes),
    enqueueCallbacks(sql, companyId, callbacks, context.now),
    countStatusChanges(sql, companyId, changes, costs.filter(isMessageCost), kindOf),
    account,
  ])
  await completeFinished(sql, companyId, settled)
  const isFollowedUp = ({ dispatchId, isFollowed }: StatusChange) =>
    dispatchId === null ? isFollowed : dispatches.get(dispatchId)?.api === 'messaging'
  await followUp(sql, companyId, changes.filter(isFollowedUp), { ...context, pool, currency })
  await recordReads(sql, companyId, reports, context.now)
  return changes
}

/** The dispatches of these changes. Dispatches that were not read together with the changes are read now. */
async function dispatchesOf(
  sql: Sql,
  companyId: number,
  changes: StatusChange[],
  likely: readonly store.DispatchSummary[],
  recent: RecentReads,
): Promise<store.Dispatches> {
  const dispatches = new Map(likely.map(row => [row.dispatchId, row]))
  const ids = new Set(changes.flatMap(({ dispatchId }) => dispatchId ?? []))
  recent.noteDispatches(companyId, ids)
  const missing = [...ids].filter(id => !dispatches.has(id))
  for (const row of await readDispatches(sql, companyId, missing)) dispatches.set(row.dispatchId, row)
  return dispatches
}

const readDispatches = async (sql: Sql, companyId: number, dispatchIds: number[]) =>
  dispatchIds.length > 0 ? store.selectDispatches(sql, companyId, dispatchIds) : []

/** Statistics count a message under the channel and the traffic type of its dispatch. `trafficOfMonth` has the same defaults. */
const kindBy =
  (dispatches: store.Dispatches) =>
  ({ dispatchId, channelType, trafficType }: StatusChange): TrafficKind =>
    (dispatchId === null ? undefined : dispatches.get(dispatchId)) ?? {
      channelType: channelType ?? 'SMS',
      trafficType: trafficType ?? 'PROMO',
    }

/** The price of the messages that are still CREATED is the amount that a stop of the dispatch releases. */
async function reduceCreated(sql: Sql, companyId: number, changes: StatusChange[]) {
  const byDispatch = new Map<number, Money>()
  for (const { from, dispatchId, price } of changes) {
    if (from !== 'CREATED' || dispatchId === null) continue
    byDispatch.set(dispatchId, (byDispatch.get(dispatchId) ?? 0n) + price)
  }
  if (byDispatch.size > 0) await reduceCreatedPrice(sql, companyId, byDispatch)
}
