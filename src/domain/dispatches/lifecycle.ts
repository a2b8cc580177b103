import { errorCodes } from '../../base/error-codes.ts'
import { AppError, invalid, invalidField } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import * as lanes from '../lanes/dispatch-lanes.ts'
import { hasTooManyLanes, leasedRanges } from '../lanes/lanes.ts'
import { type Account, monthOf } from '../ledger/account.ts'
import { changeReserved, lockStatusesAndAccount, refusalOf } from '../ledger/ledger.ts'
import { holdPackages, releasePackages } from '../ledger/package-holds.ts'
import { createdIn } from '../messages/messages.ts'
import type { Partner } from '../partners/partner.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import { type Package, packagesBetween } from '../pricing/tariff.ts'
import { requireUsableName } from '../routing/routing.ts'
import { sendersByIds, sendersByNames } from '../senders/senders.ts'
import { requestStopsOf } from '../stop-requests/stop-requests.ts'
import type { Dispatch, DispatchKey } from './dispatch.ts'
import { requireDispatch } from './reading.ts'
import * as store from './store.ts'

export type Billing = { billingZone: string; now: Date }

/**
 * The reservation of a dispatch. While the dispatch is STARTED, every CREATED message holds its price. While it is STOPPED,
 * only CREATED messages in an open lease hold their price: the operator may already have them. The transaction that
 * closes the lease releases the holds of messages that were not sent. A SENT message holds its price until it is final.
 * Packages are held while the dispatch is STARTED. A package that SENT messages reach after a stop is charged too.
 *
 * Start and stop lock the statuses, then the account, then the dispatch, like all other code.
 */

/** Changes CREATED or STOPPED to STARTED if the company can pay for all messages. A STARTED dispatch does not change. */
export async function startDispatch(pool: Pool, partner: Partner, dispatchId: number, billing: Billing): Promise<void> {
  await startDispatchOf(pool, await requireDispatch(pool, partner, dispatchId), billing)
}

/** Writes more rows in the transaction of a start or a stop. */
type Alongside = (sql: Transaction) => Promise<void>

/** Starts a dispatch. The caller has checked its company. */
export function startDispatchOf(pool: Pool, key: DispatchKey, billing: Billing, alongside?: Alongside): Promise<void> {
  return underLocks(pool, key, billing, async (sql, dispatch, account) => {
    if (dispatch.status === 'STARTED') return
    if (dispatch.status === 'COMPLETED') throw invalid('The dispatch is COMPLETED and cannot be started')
    if (dispatch.endedAt) throw invalid('The dispatch was stopped for good and cannot be started')
    await start(sql, dispatch, account, billing, invalid)
    await alongside?.(sql)
  })
}

/** Starts a CREATED dispatch, for the messaging API. With `price` it starts only if exactly this amount would be held. */
export function startCreatedDispatch(
  pool: Pool,
  key: DispatchKey,
  billing: Billing,
  { price, alongside }: { price?: Money; alongside?: Alongside } = {},
): Promise<void> {
  return underLocks(pool, key, billing, async (sql, dispatch, account) => {
    if (dispatch.status !== 'CREATED') throw inappropriateStatus()
    if (price !== undefined && price !== (await priceToStart(sql, dispatch, billing))) {
      throw invalidField('price', 'the dispatch costs another amount now')
    }
    await start(sql, dispatch, account, billing, refusal => new AppError('insufficient_funds', refusal))
    await alongside?.(sql)
  })
}

/** The amount that a start would hold: the prices of the messages, and the packages that the dispatch could reach. */
export const priceToStart = async (sql: Sql, dispatch: Dispatch, billing: Billing): Promise<Money> =>
  dispatch.createdPrice - (await heldBy(sql, dispatch)) + sum(await packagesWithinReach(sql, dispatch, billing))

/** Changes STARTED to STOPPED. Messages without a lease stay CREATED, and their reservation is released. */
export async function stopDispatch(pool: Pool, partner: Partner, dispatchId: number, billing: Billing): Promise<void> {
  await stopDispatchOf(pool, await requireDispatch(pool, partner, dispatchId), billing)
}

/** Stops a dispatch. The caller has checked its company. */
export function stopDispatchOf(pool: Pool, key: DispatchKey, billing: Billing, alongside?: Alongside): Promise<void> {
  return underLocks(pool, key, billing, async (sql, dispatch) => {
    if (dispatch.status === 'STOPPED') return
    if (dispatch.status !== 'STARTED') throw invalid(`The dispatch is ${dispatch.status} and cannot be stopped`)
    await stop(sql, dispatch, lanes.closeLanes)
    await alongside?.(sql)
  })
}

/**
 * Stops a dispatch so that it cannot be started again. Messages without a lease fail as unsent (see `ending.ts`). No
 * cascade of the dispatch continues, and waiting later steps are stopped (see `stopping/stopping.ts`). If a partner stopped
 * the dispatch before, its reservation is already released.
 */
export function endDispatch(pool: Pool, key: DispatchKey, billing: Billing): Promise<void> {
  return underLocks(pool, key, billing, async (sql, dispatch) => {
    const end = () => lanes.endLanes(sql, dispatch, errorCodes.stopped)
    if (dispatch.status === 'STARTED') await stop(sql, dispatch, end)
    else if (dispatch.status === 'STOPPED' && !dispatch.endedAt) await end()
    else if (!(await hasOpenCascade(sql, dispatch))) throw inappropriateStatus()
    await store.setEnded(sql, dispatch)
    if (dispatch.cascade) await requestStopsOf(sql, store.waitingSteps(sql, dispatch))
  })
}

/** A cascade dispatch is COMPLETED when its first steps are final. Its later steps may still be waiting. */
async function hasOpenCascade(sql: Sql, dispatch: Dispatch): Promise<boolean> {
  if (dispatch.status !== 'COMPLETED' || !dispatch.cascade || dispatch.endedAt) return false
  return (await store.selectOpenCascade(sql, dispatch)).length > 0
}

export const inappropriateStatus = () => new AppError('dispatch_status', 'Inappropriate dispatch status')

async function underLocks(
  pool: Pool,
  { companyId, dispatchId }: DispatchKey,
  { billingZone, now }: Billing,
  change: (sql: Transaction, dispatch: Dispatch, account: Account) => Promise<void>,
) {
  await pool.begin(async sql => {
    const account = await lockStatusesAndAccount(sql, companyId, monthOf(now, billingZone))
    await change(sql, await store.lockDispatch(sql, companyId, dispatchId), account)
  })
}

async function start(
  sql: Transaction,
  dispatch: Dispatch,
  account: Account,
  billing: Billing,
  refuse: (reason: string) => Error,
) {
  const { companyId, dispatchId } = dispatch
  const { status } = await requireAnyCompany(sql, companyId)
  if (status !== 'ACTIVE') throw invalidField('companyId', 'the company is disabled')
  await refuseUnapproved(sql, dispatch)

  const packages = await packagesWithinReach(sql, dispatch, billing)
  const amount = dispatch.createdPrice - (await heldBy(sql, dispatch)) + sum(packages)
  const refusal = refusalOf(account, amount)
  if (refusal) throw refuse(refusal)
  await changeReserved(sql, companyId, amount)
  await holdPackages(sql, companyId, dispatchId, packages)
  await store.updateStatus(sql, dispatch, 'STARTED')
  await lanes.openLanes(sql, dispatch, billing.now)
  if (await hasTooManyLanes(sql, companyId)) throw tooManyLanes()
  await sql`select pg_notify('tidings_lanes', '')` // engines read the lanes at once instead of in their next turn
  await completeFinished(sql, companyId, [dispatchId]) // a dispatch without accepted messages is COMPLETED at once
}

const tooManyLanes = () =>
  invalid(
    'Too many dispatches of the company are being sent or wait for their time: start this one when others are done',
  )

/** Closes the lanes first. A worker that takes a lease updates the lane, so the lease is taken wholly before or after the stop. */
async function stop(sql: Transaction, dispatch: Dispatch, close: typeof lanes.closeLanes) {
  await close(sql, dispatch)
  const packages = await releasePackages(sql, dispatch.companyId, [dispatch.dispatchId])
  await changeReserved(sql, dispatch.companyId, (await heldBy(sql, dispatch)) - dispatch.createdPrice - packages)
  await store.updateStatus(sql, dispatch, 'STOPPED')
}

/** The sender name of a client must still be usable. The senders of a partner must be APPROVED. */
async function refuseUnapproved(sql: Sql, dispatch: Dispatch) {
  const { companyId, channelType, senderName } = dispatch
  if (senderName) {
    await refuseForeignNames(sql, companyId, [{ channelType, senderName }])
    requireUsableName(await sendersByNames(sql, companyId, [senderName]), { channelType, senderName })
    return
  }
  const senders = await sendersByIds(sql, dispatch.companyId, dispatch.senderIds)
  const waiting = senders.find(sender => sender.status !== 'APPROVED')
  if (waiting) {
    throw invalidField(
      'senderIds',
      `sender ${waiting.senderId} (${waiting.senderName}) is ${waiting.status}, not APPROVED`,
    )
  }
}

/** The holds of CREATED messages in open leases. */
async function heldBy(sql: Sql, dispatch: Dispatch): Promise<Money> {
  let held = 0n
  for (const range of await leasedRanges(sql, dispatch.companyId, dispatch.dispatchId)) {
    held += (await createdIn(sql, { companyId: dispatch.companyId, ...range }, dispatch)).price
  }
  return held
}

/**
 * The MAU packages that this dispatch could reach this month, if all its pending recipients are new. If the next month
 * begins before the dispatch is completed, it may reach other packages. A package is always charged, also without a hold.
 */
async function packagesWithinReach(sql: Sql, dispatch: Dispatch, { billingZone, now }: Billing): Promise<Package[]> {
  const tariffs = (await tariffsByIds(sql, dispatch.tariffIds)).filter(({ pricingModel }) => pricingModel === 'MAU')
  if (tariffs.length === 0) return []
  const reach = await store.selectReach(
    sql,
    dispatch,
    tariffs.map(({ tariffId }) => tariffId),
    monthOf(now, billingZone),
  )
  return tariffs.flatMap(tariff => {
    const ofTariff = reach.find(({ tariffId }) => tariffId === tariff.tariffId)
    return ofTariff ? packagesBetween(tariff, ofTariff.reached, ofTariff.reached + ofTariff.within) : []
  })
}

const sum = (packages: Package[]): Money => packages.reduce((total, { amount }) => total + amount, 0n)

/** Sets dispatches without pending messages to COMPLETED and releases their package holds. */
export async function completeFinished(sql: Sql, companyId: number, dispatchIds: number[]): Promise<void> {
  if (dispatchIds.length === 0) return
  const completed = await store.completeFinished(sql, companyId, dispatchIds)
  const packages = await releasePackages(
    sql,
    companyId,
    completed.map(({ dispatchId }) => dispatchId),
  )
  await changeReserved(sql, companyId, -packages)
}
