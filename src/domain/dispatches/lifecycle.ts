import { errorCodes } from '../../base/error-codes.ts'
import { AppError, invalid, invalidField } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import * as lanes from '../lanes/dispatch-lanes.ts'
import { hasTooManyLanes, leasedRanges } from '../lanes/lanes.ts'
import { type Account, monthOf } from '../ledger/account.ts'
import { changeReserved, lockAccount, refusalOf } from '../ledger/ledger.ts'
import { holdPackages, letGoOfPackages } from '../ledger/package-holds.ts'
import { createdIn } from '../messages/messages.ts'
import type { Partner } from '../partners/partner.ts'
import { tariffsByIds } from '../pricing/pricing.ts'
import { type Package, packagesBetween } from '../pricing/tariff.ts'
import { sendersByIds, sendersCalled } from '../senders/senders.ts'
import { requestStopsOf } from '../stop-requests/stop-requests.ts'
import type { Dispatch } from './dispatch.ts'
import { requireDispatch } from './dispatches.ts'
import { requireUsableName } from './routing.ts'
import * as store from './store.ts'

export type Billing = { billingZone: string; now: Date }

/**
 * What a dispatch holds. While it is STARTED every message still CREATED holds its price. While it is STOPPED only
 * those in somebody's hands (in an open lease) do: what was handed to an operator cannot be called back, and the
 * transaction that closes the lease lets go of the rest. Whatever is SENT holds its price until it is final. Packages
 * are held while it is STARTED; one that is reached afterwards by what was on its way is charged all the same.
 *
 * Start and stop take the account's lock first and the dispatch's second, like everyone else.
 */

/** CREATED or STOPPED to STARTED: all of it is reserved, or it does not start. A started one stays as it is. */
export async function startDispatch(pool: Pool, partner: Partner, dispatchId: number, billing: Billing): Promise<void> {
  await startDispatchOf(pool, await requireDispatch(pool, partner, dispatchId), billing)
}

/** Work that commits with a start or a stop, or not at all. */
type Alongside = (sql: Transaction) => Promise<void>

/** The same for a dispatch whose company the caller has checked. */
export function startDispatchOf(pool: Pool, home: DispatchKey, billing: Billing, alongside?: Alongside): Promise<void> {
  return underLocks(pool, home, billing, async (sql, dispatch, account) => {
    if (dispatch.status === 'STARTED') return
    if (dispatch.status === 'COMPLETED') throw invalid('The dispatch is COMPLETED and cannot be started')
    if (dispatch.endedAt) throw invalid('The dispatch was stopped for good and cannot be started')
    await start(sql, dispatch, account, billing, invalid)
    await alongside?.(sql)
  })
}

/** The messaging API's: once, and from CREATED alone. With `price` only when exactly that would be held. */
export function startCreatedDispatch(
  pool: Pool,
  home: DispatchKey,
  billing: Billing,
  { price, alongside }: { price?: Money; alongside?: Alongside } = {},
): Promise<void> {
  return underLocks(pool, home, billing, async (sql, dispatch, account) => {
    if (dispatch.status !== 'CREATED') throw inappropriateStatus()
    if (price !== undefined && price !== (await priceToStart(sql, dispatch, billing))) {
      throw invalidField('price', 'the dispatch costs another amount now')
    }
    await start(sql, dispatch, account, billing, refusal => new AppError('insufficient_funds', refusal))
    await alongside?.(sql)
  })
}

/** What starting the dispatch would hold: its messages, and the packages of recipients that it could reach. */
export const priceToStart = async (sql: Sql, dispatch: Dispatch, billing: Billing): Promise<Money> =>
  dispatch.createdPrice - (await heldBy(sql, dispatch)) + sum(await packagesWithinReach(sql, dispatch, billing))

/** STARTED to STOPPED: what nobody has in hands yet is held, and its reservation let go. */
export async function stopDispatch(pool: Pool, partner: Partner, dispatchId: number, billing: Billing): Promise<void> {
  await stopDispatchOf(pool, await requireDispatch(pool, partner, dispatchId), billing)
}

/** The same for a dispatch whose company the caller has checked. */
export function stopDispatchOf(pool: Pool, home: DispatchKey, billing: Billing, alongside?: Alongside): Promise<void> {
  return underLocks(pool, home, billing, async (sql, dispatch) => {
    if (dispatch.status === 'STOPPED') return
    if (dispatch.status !== 'STARTED') throw invalid(`The dispatch is ${dispatch.status} and cannot be stopped`)
    await stop(sql, dispatch, lanes.closeLanes)
    await alongside?.(sql)
  })
}

/**
 * The same for good: what nobody has in hands is not held but becomes unsent, by and by (see `ending.ts`). No cascade of
 * it goes on from now on, and the later steps that wait are stopped (see `sending/stopping.ts`). One that a partner
 * stopped has let go of its reservation already.
 */
export function endDispatch(pool: Pool, home: DispatchKey, billing: Billing): Promise<void> {
  return underLocks(pool, home, billing, async (sql, dispatch) => {
    const end = () => lanes.endLanes(sql, dispatch, errorCodes.stopped)
    if (dispatch.status === 'STARTED') await stop(sql, dispatch, end)
    else if (dispatch.status === 'STOPPED' && !dispatch.endedAt) await end()
    else if (!(await goesOn(sql, dispatch))) throw inappropriateStatus()
    await store.setEnded(sql, dispatch)
    if (dispatch.cascade) await requestStopsOf(sql, store.waitingSteps(sql, dispatch))
  })
}

/** One by cascade is COMPLETED with its first steps, for whoever counts recipients; others may still be to come. */
async function goesOn(sql: Sql, dispatch: Dispatch): Promise<boolean> {
  if (dispatch.status !== 'COMPLETED' || !dispatch.cascade || dispatch.endedAt) return false
  return (await store.selectOpenCascade(sql, dispatch)).length > 0
}

export const inappropriateStatus = () => new AppError('dispatch_status', 'Inappropriate dispatch status')

export type DispatchKey = { companyId: number; dispatchId: number }

async function underLocks(
  pool: Pool,
  { companyId, dispatchId }: DispatchKey,
  { billingZone, now }: Billing,
  move: (sql: Transaction, dispatch: Dispatch, account: Account) => Promise<void>,
) {
  await pool.begin(async sql => {
    const account = await lockAccount(sql, companyId, monthOf(now, billingZone))
    const [dispatch] = await store.lockDispatch(sql, companyId, dispatchId)
    await move(sql, dispatch!, account)
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
  await sql`select pg_notify('tidings_lanes', '')` // engines look at once instead of at their next turn
  await completeFinished(sql, companyId, [dispatchId]) // one without any accepted message is done at once
}

const tooManyLanes = () =>
  invalid(
    'Too many dispatches of the company are being sent or wait for their time: start this one when others are done',
  )

/** Closing the lanes first: they are the rows that a claim updates, so a claim is wholly before or after this. */
async function stop(sql: Transaction, dispatch: Dispatch, close: typeof lanes.closeLanes) {
  await close(sql, dispatch)
  const packages = await letGoOfPackages(sql, dispatch.companyId, [dispatch.dispatchId])
  await changeReserved(sql, dispatch.companyId, (await heldBy(sql, dispatch)) - dispatch.createdPrice - packages)
  await store.updateStatus(sql, dispatch, 'STOPPED')
}

/** A client's name must be usable, as it was when the dispatch was made; the senders a partner named, APPROVED. */
async function refuseUnapproved(sql: Sql, dispatch: Dispatch) {
  const { companyId, channelType, senderName } = dispatch
  if (senderName) {
    await refuseForeignNames(sql, companyId, [{ channelType, senderName }])
    requireUsableName(await sendersCalled(sql, companyId, [senderName]), { channelType, senderName })
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

/** What the messages hold that are in somebody's hands and not recorded yet. */
async function heldBy(sql: Sql, dispatch: Dispatch): Promise<Money> {
  let held = 0n
  for (const range of await leasedRanges(sql, dispatch.companyId, dispatch.dispatchId)) {
    held += (await createdIn(sql, { companyId: dispatch.companyId, ...range }, dispatch)).price
  }
  return held
}

/**
 * The packages of unique recipients that this dispatch could reach this month: with everyone in it who is not final
 * and was not reached yet. In a month that begins before it is done it may reach others; packages are never refused.
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
    const { reached, within } = reach.find(({ tariffId }) => tariffId === tariff.tariffId)!
    return packagesBetween(tariff, reached, reached + within)
  })
}

const sum = (packages: Package[]): Money => packages.reduce((total, { amount }) => total + amount, 0n)

/** Dispatches with nothing pending become COMPLETED and let go of what they held for packages. */
export async function completeFinished(sql: Sql, companyId: number, dispatchIds: number[]): Promise<void> {
  if (dispatchIds.length === 0) return
  const completed = await store.completeFinished(sql, companyId, dispatchIds)
  const packages = await letGoOfPackages(
    sql,
    companyId,
    completed.map(({ dispatchId }) => dispatchId),
  )
  await changeReserved(sql, companyId, -packages)
}
