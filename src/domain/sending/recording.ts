import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { enqueueCallbacks, type StatusEvent } from '../callbacks/callbacks.ts'
import { completeFinished } from '../dispatches/lifecycle.ts'
import { leasedRanges } from '../lanes/lanes.ts'
import { type ChargeShare, type Entry, monthOf } from '../ledger/account.ts'
import { type Charge, changeReserved, charge, lockAccount } from '../ledger/ledger.ts'
import { letGoOfCharged } from '../ledger/package-holds.ts'
import type { Move } from '../messages/message.ts'
import { countSteps, moveMessages, type Step } from '../messages/messages.ts'
import type { Package } from '../pricing/tariff.ts'
import { countMoved } from '../statistics/statistics.ts'
import type { TrafficKind } from '../statistics/traffic.ts'
import { followUp, noteReads } from './follow-up.ts'
import { keepLateReceipts } from './late-receipts.ts'
import { type Cost, settleDelivered } from './settlement.ts'
import { cleanStatusReport, joinStatusReports, type RecordingContext, type StatusReport } from './status-report.ts'
import * as store from './store.ts'

/**
 * Writes what the engine learned of a company's messages, in one transaction: status, counters, money, callbacks and
 * the operator's ids, or none of it. Steps that have been taken before are passed over, so status reports may be repeated,
 * late or come from several processes. Returns how many steps were taken.
 */
export function recordStatusReports(
  pool: Pool,
  companyId: number,
  statusReports: StatusReport[],
  context: RecordingContext,
): Promise<number> {
  return pool.begin(sql => recordWithin(sql, pool, companyId, statusReports, context)) as Promise<number>
}

/** The same within a transaction of the caller's. */
export async function recordWithin(
  sql: Transaction,
  pool: Pool,
  companyId: number,
  told: StatusReport[],
  context: RecordingContext,
): Promise<number> {
  const statusReports = told.map(cleanStatusReport)
  const month = monthOf(context.now, context.billingZone)
  const account = await lockAccount(sql, companyId, month)
  const joined = folded(statusReports)
  const steps = await takeSteps(sql, companyId, joined)
  await keepLateReceipts(sql, companyId, joined, steps, context.now)
  const [homes, costs] = await Promise.all([
    homesOf(sql, companyId, steps),
    settleDelivered(sql, companyId, month, steps),
  ])
  const held = await changeOfHolds(sql, companyId, steps, homes)
  const packages = await letGoOfCharged(sql, companyId, costs.filter(isPackage))
  await Promise.all([
    countSteps(sql, companyId, steps),
    changeReserved(sql, companyId, held - packages),
    charge(sql, companyId, account, chargeOf(costs, account.currency, month, kindsBy(homes)), context),
    reduceCreated(sql, companyId, steps),
    enqueueCallbacks(sql, companyId, callbacksOf(steps, homes), context.now),
    keepIds(sql, companyId, statusReports, context.now),
    countMoved(sql, companyId, steps, costs.filter(isMessage), kindsBy(homes)),
  ])
  await completeDispatches(sql, companyId, steps)
  const ofMessagingApi = ({ dispatchId }: Step) => dispatchId === null || homes.get(dispatchId)?.format === 'messaging'
  await followUp(sql, companyId, steps.filter(ofMessagingApi), { ...context, pool, currency: account.currency })
  await noteReads(sql, companyId, statusReports, context.now)
  return steps.length
}

/** What is said of one message in several status reports becomes one. */
function folded(statusReports: StatusReport[]): StatusReport[] {
  const byUuid = new Map<string, StatusReport>()
  for (const statusReport of statusReports) {
    const known = byUuid.get(statusReport.uuid)
    byUuid.set(statusReport.uuid, known ? joinStatusReports(known, statusReport) : statusReport)
  }
  return [...byUuid.values()]
}

/**
 * A message that was taken and reported in one go takes one step, straight to its end. A receipt may also arrive
 * before anyone recorded the submission: what is not found SENT is looked for among the CREATED, and counts as sent.
 * The operator's report outweighs a refusal: the message was handed over twice, and the other one was taken.
 */
async function takeSteps(sql: Sql, companyId: number, statusReports: StatusReport[]): Promise<Step[]> {
  const submitted = statusReports.filter(({ sentAt, refused, final }) => sentAt || (refused && !final))
  const reported = statusReports.filter(({ sentAt, final }) => final && !sentAt)
  const moved = await Promise.all([
    moveMessages(sql, companyId, 'CREATED', submitted.map(moveOf)),
    moveMessages(sql, companyId, 'SENT', reported.map(moveOf)),
  ])
  const steps = moved.flat()
  const found = new Set(steps.map(({ uuid }) => uuid))
  const missing = statusReports.filter(({ uuid, final }) => final && !found.has(uuid))
  return missing.length === 0 ? steps : [...steps, ...(await takeMissing(sql, companyId, missing))]
}

async function takeMissing(sql: Sql, companyId: number, missing: StatusReport[]): Promise<Step[]> {
  const recordedByOthers = missing.filter(({ sentAt }) => sentAt)
  const early = missing
    .filter(({ sentAt }) => !sentAt)
    .map(statusReport => ({ ...statusReport, sentAt: statusReport.final!.at }))
  return [
    ...(await moveMessages(sql, companyId, 'SENT', recordedByOthers.map(moveOf))),
    ...(await moveMessages(sql, companyId, 'CREATED', early.map(moveOf))),
  ]
}

function moveOf({ uuid, sentAt, refused, final }: StatusReport): Move {
  const end = final ?? (sentAt ? undefined : refused)
  return {
    uuid,
    to: final?.status ?? (end ? 'FAILED' : 'SENT'),
    sentAt: sentAt ?? null,
    finalAt: end?.at ?? null,
    errorCode: end?.errorCode ?? null,
    operatorError: end?.operatorError ?? null,
  }
}

const isFinal = ({ to }: Step) => to !== 'SENT'

/**
 * A message holds its price until it is final. One that was CREATED in a stopped dispatch and in nobody's hands held
 * nothing: a late word about it (its engine was frozen, its receipt is early) makes it hold from now on if it is on
 * its way, and takes nothing off if it is at its end.
 */
async function changeOfHolds(
  sql: Sql,
  companyId: number,
  steps: Step[],
  homes: Map<number, store.Home>,
): Promise<Money> {
  const held = await holdersAmong(sql, companyId, steps, homes)
  return steps.reduce((total, step) => {
    if (held(step)) return isFinal(step) ? total - step.price : total
    return isFinal(step) ? total : total + step.price
  }, 0n)
}

async function holdersAmong(sql: Sql, companyId: number, steps: Step[], homes: Map<number, store.Home>) {
  const ofStopped = ({ from, dispatchId }: Step) =>
    from === 'CREATED' && dispatchId !== null && homes.get(dispatchId)?.status !== 'STARTED'
  const stopped = new Set(steps.filter(ofStopped).map(({ dispatchId }) => dispatchId!))
  const ranges = (await Promise.all([...stopped].map(dispatchId => leasedRanges(sql, companyId, dispatchId)))).flat()
  const inHands = ({ laneId, seq }: Step) =>
    ranges.some(range => range.laneId === laneId && range.firstSeq <= seq && seq < range.nextSeq)
  return (step: Step) => !ofStopped(step) || inHands(step)
}

const isMessage = (cost: Cost): cost is Cost & { step: Step } => cost.step !== undefined

/** Statistics count the messages of a dispatch as what the dispatch is; `trafficOfMonth` has the same defaults. */
const kindsBy =
  (homes: Map<number, store.Home>) =>
  ({ dispatchId, channelType, trafficType }: Step): TrafficKind =>
    dispatchId === null
      ? { channelType: channelType ?? 'SMS', trafficType: trafficType ?? 'PROMO' }
      : homes.get(dispatchId)!

const isPackage = (cost: Cost): cost is Cost & Pick<Package, 'tariffId' | 'from'> => cost.kind === 'MAU_PACKAGE'

const chargeOf = (costs: Cost[], currency: string, month: string, kindOf: (step: Step) => TrafficKind): Charge => ({
  entries: entriesOf(costs, currency, month),
  shares: sharesOf(costs, month, kindOf),
})

/** One entry per dispatch and batch. */
function entriesOf(costs: Cost[], currency: string, month: string): Entry[] {
  const entries = new Map<string, Entry & { messages: number }>()
  for (const { kind, dispatchId, tariffId, amount, step } of costs) {
    const ofTariff = kind === 'MAU_PACKAGE' ? tariffId : null
    const key = `${kind}/${dispatchId}/${ofTariff}`
    const entry = entries.get(key) ?? { kind, dispatchId, tariffId: ofTariff, amount: 0n, currency, month, messages: 0 }
    entries.set(key, entry)
    entry.amount += amount
    if (step) entry.messages += 1
  }
  return [...entries.values()]
}

/** Packages belong to a tariff of SMS, and to no operator of their own. */
function sharesOf(costs: Cost[], month: string, kindOf: (step: Step) => TrafficKind): ChargeShare[] {
  const shares = new Map<string, ChargeShare>()
  for (const { kind, tariffId, amount, step } of costs) {
    const channelType = step ? kindOf(step).channelType : 'SMS'
    const brandId = step?.brandId ?? null
    const key = `${kind}/${channelType}/${brandId}/${tariffId}`
    const share = shares.get(key) ?? { kind, month, channelType, brandId, tariffId, messages: 0, parts: 0, amount: 0n }
    shares.set(key, share)
    share.messages += 1
    share.parts += step?.parts ?? 0
    share.amount += amount
  }
  return [...shares.values()]
}

/** What a dispatch still has to send is what its stop would release. */
async function reduceCreated(sql: Sql, companyId: number, steps: Step[]) {
  const byDispatch = new Map<number, Money>()
  for (const { from, dispatchId, price } of steps) {
    if (from === 'CREATED' && dispatchId !== null)
      byDispatch.set(dispatchId, (byDispatch.get(dispatchId) ?? 0n) + price)
  }
  if (byDispatch.size > 0) await store.reduceCreatedPrice(sql, companyId, byDispatch)
}

async function homesOf(sql: Sql, companyId: number, steps: Step[]): Promise<Map<number, store.Home>> {
  const ids = new Set(steps.flatMap(({ dispatchId }) => dispatchId ?? []))
  const rows = ids.size > 0 ? await store.selectHomes(sql, companyId, [...ids]) : []
  return new Map(rows.map(row => [row.dispatchId, row]))
}

const EVENTS = { SENT: 'sent', DELIVERED: 'delivered', FAILED: 'failed' } as const

/** A message that went straight to its end was sent on the way: both are told, in that order. */
function callbacksOf(steps: Step[], homes: Map<number, store.Home>) {
  const batches = new Map<string, StatusEvent[]>()
  for (const step of steps) {
    const home = step.dispatchId === null ? undefined : homes.get(step.dispatchId)
    const url = home?.format === 'partner' ? home.callbackUrl : null
    if (!url) continue
    const tell = (event: StatusEvent['event'], at = step.at) => {
      if (!home!.callbackEvents.includes(event)) return
      const told = { event, messageUuid: step.uuid, destination: step.destination, at }
      const events = batches.get(url)
      const full = step.errorCode === null ? told : { ...told, errorCode: step.errorCode }
      if (events) events.push(full)
      else batches.set(url, [full])
    }
    if (step.from === 'CREATED' && step.to !== 'SENT' && step.sent) tell('sent', step.sentAt ?? step.at)
    tell(EVENTS[step.to])
  }
  return [...batches].map(([url, events]) => ({ url, events }))
}

async function keepIds(sql: Sql, companyId: number, statusReports: StatusReport[], now: Date) {
  const rows = statusReports.flatMap(({ uuid, ids }) =>
    ids
      ? ids.providerIds.flatMap((providerId, part) =>
          providerId === undefined
            ? []
            : { gatewayId: ids.gatewayId, providerId, uuid, part, parts: ids.providerIds.length },
        )
      : [],
  )
  if (rows.length > 0) await store.insertSubmissions(sql, companyId, rows, now)
}

/** A dispatch is COMPLETED when every message of it is final. */
async function completeDispatches(sql: Transaction, companyId: number, steps: Step[]) {
  const ids = new Set(steps.filter(isFinal).flatMap(({ dispatchId }) => dispatchId ?? []))
  await completeFinished(sql, companyId, [...ids])
}
