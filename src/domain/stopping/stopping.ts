import { isDatabaseAway, isNodeAway } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { endCascades } from '../cascade-steps/cascade-steps.ts'
import { monthOf } from '../ledger/account.ts'
import { lockStatusesAndAccount } from '../ledger/ledger.ts'
import type { RecordingContext } from '../recording/context.ts'
import { recordWithin } from '../recording/recording.ts'
import {
  deleteStopRequests,
  requestStops,
  type StopRequest,
  selectStopped,
  selectStopRequests,
} from '../stop-requests/stop-requests.ts'
import * as store from './store.ts'

/** `maybe`: a worker has a lease on the message, and checks for a stop request before it submits the message. */
export type StopOutcome = { uuid: string; outcome: 'stopped' | 'maybe' | 'too late' | 'unknown' }

/**
 * Stops messages that are not submitted. Messages without a lease fail at once. Submitted messages never change. The uuid of
 * the first message of a cascade stops the whole cascade.
 */
export function stopMessages(
  pool: Pool,
  companyId: number,
  uuids: string[],
  context: RecordingContext,
): Promise<StopOutcome[]> {
  return pool.begin(async sql => {
    await lockStatusesAndAccount(sql, companyId, monthOf(context.now, context.billingZone))
    await store.lockDispatchesOf(sql, companyId, uuids)
    await store.lockLanesOf(sql, companyId, uuids) // so that a lease is taken wholly before or after the stop
    const found = await store.selectStoppable(sql, companyId, uuids)
    const cascades = await endCascades(sql, companyId, unmetCascades(found), context.now)
    const created = found.filter(({ status }) => status === 'CREATED')
    await stopNow(sql, pool, companyId, uuidsOf(created, false), context)
    const isLeased = uuidsOf(created, true)
    if (isLeased.length > 0) await requestStops(sql, companyId, isLeased)
    const outcomeOf = outcomes(found, cascades)
    return uuids.map(uuid => ({ uuid, outcome: outcomeOf(uuid) }))
  })
}

/** The cascades, by their first message, whose condition no step has met. */
function unmetCascades(found: store.Stoppable[]): string[] {
  const met = new Set(found.filter(({ isMet }) => isMet).map(({ cascadeUuid }) => cascadeUuid))
  return found.filter(({ uuid, cascadeUuid }) => uuid === cascadeUuid && !met.has(uuid)).map(({ uuid }) => uuid)
}

const uuidsOf = (messages: store.Stoppable[], isLeased: boolean) =>
  messages.filter(message => message.isLeased === isLeased).map(({ uuid }) => uuid)

async function stopNow(sql: Transaction, pool: Pool, companyId: number, uuids: string[], context: RecordingContext) {
  const refused = { at: context.now, errorCode: errorCodes.stopped }
  const statusReports = uuids.map(uuid => ({ uuid, refused }))
  if (statusReports.length > 0) await recordWithin(sql, pool, companyId, statusReports, context)
}

function outcomes(found: store.Stoppable[], endedCascades: Set<string>) {
  const byUuid = new Map(found.map(message => [message.uuid, message]))
  const byCascade = Map.groupBy(found, ({ cascadeUuid }) => cascadeUuid)

  return (uuid: string): StopOutcome['outcome'] => {
    const own = byUuid.get(uuid)
    if (!own) return 'unknown'
    const all = own.cascadeUuid === uuid ? (byCascade.get(uuid) ?? [own]) : [own]
    const created = all.filter(({ status }) => status === 'CREATED')
    if (endedCascades.has(uuid) || created.some(({ isLeased }) => !isLeased)) return 'stopped'
    return created.length > 0 ? 'maybe' : 'too late'
  }
}

/** The messages among these that have a stop request. */
export async function stoppedAmong(sql: Sql, companyId: number, uuids: string[]): Promise<Set<string>> {
  return new Set((await selectStopped(sql, companyId, uuids)).map(({ uuid }) => uuid))
}

const AT_ONCE = 1000

/**
 * Stops messages that have a stop request and no lease: later steps of an ended dispatch, and messages whose lease was
 * returned. Deletes stop requests of messages that are no longer CREATED. An error of one company does not affect the
 * others: it is thrown after all companies were processed.
 */
export async function endStopped(pool: Pool, context: RecordingContext): Promise<void> {
  const errors: Error[] = []
  let requests: StopRequest[] = []
  do {
    const after = requests.at(-1) ?? FIRST
    requests = await acrossCompanies(pool, () => selectStopRequests(pool, after, AT_ONCE))
    for (const [companyId, ofCompany] of Map.groupBy(requests, request => request.companyId)) {
      const uuids = ofCompany.map(({ uuid }) => uuid)
      await endRequested(pool, companyId, uuids, context).catch(cause => {
        if (isDatabaseAway(cause) && !isNodeAway(cause)) throw cause
        errors.push(new Error(`company ${companyId}: ${uuids.length} stop requests failed`, { cause }))
      })
    }
  } while (requests.length === AT_ONCE)
  if (errors.length > 0) throw new AggregateError(errors, 'stop requests failed')
}

const FIRST: StopRequest = { companyId: 0, uuid: '00000000-0000-0000-0000-000000000000' }

/** Leased messages are not locked or changed, because their worker reads the stop requests itself. */
async function endRequested(pool: Pool, companyId: number, uuids: string[], context: RecordingContext) {
  const found = await store.selectStoppable(pool, companyId, uuids)
  const requested = new Set(uuids)
  const waiting = found.filter(({ uuid, status }) => status === 'CREATED' && requested.has(uuid))
  const free = uuidsOf(waiting, false)
  if (free.length > 0) await stopMessages(pool, companyId, free, context)
  await deleteStopRequests(pool, companyId, uuids)
}
