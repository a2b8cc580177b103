import { isDatabaseAway } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { endCascades } from '../cascade-steps/cascade-steps.ts'
import { monthOf } from '../ledger/account.ts'
import { lockAccount } from '../ledger/ledger.ts'
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

/** `maybe`: a worker has it, and looks once more before it hands it over. */
export type StopOutcome = { uuid: string; outcome: 'stopped' | 'maybe' | 'too late' | 'unknown' }

/**
 * Stops messages that have not been handed over. What nobody has in hand ends at once; what was handed over is never
 * rewritten. The first message of a cascade stands for all of it.
 */
export function stopMessages(
  pool: Pool,
  companyId: number,
  uuids: string[],
  context: RecordingContext,
): Promise<StopOutcome[]> {
  return pool.begin(async sql => {
    await lockAccount(sql, companyId, monthOf(context.now, context.billingZone))
    await store.lockDispatchesOf(sql, companyId, uuids)
    await store.lockLanesOf(sql, companyId, uuids) // so that a claim is wholly before this or after it
    const found = await store.selectStoppable(sql, companyId, uuids)
    const cascades = await endCascades(sql, companyId, goingOn(found), context.now)
    const created = found.filter(({ status }) => status === 'CREATED')
    await stopNow(sql, pool, companyId, uuidsOf(created, false), context)
    const inHand = uuidsOf(created, true)
    if (inHand.length > 0) await requestStops(sql, companyId, inHand)
    const outcomeOf = outcomes(found, cascades)
    return uuids.map(uuid => ({ uuid, outcome: outcomeOf(uuid) }))
  })
}

/** Cascades, by their first message, of which no step has done what was wanted of it. */
function goingOn(found: store.Stoppable[]): string[] {
  const met = new Set(found.filter(({ isMet }) => isMet).map(({ cascadeUuid }) => cascadeUuid))
  return found.filter(({ uuid, cascadeUuid }) => uuid === cascadeUuid && !met.has(uuid)).map(({ uuid }) => uuid)
}

const uuidsOf = (messages: store.Stoppable[], inHand: boolean) =>
  messages.filter(message => message.inHand === inHand).map(({ uuid }) => uuid)

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
    const all = own.cascadeUuid === uuid ? byCascade.get(uuid)! : [own]
    const created = all.filter(({ status }) => status === 'CREATED')
    if (endedCascades.has(uuid) || created.some(({ inHand }) => !inHand)) return 'stopped'
    return created.length > 0 ? 'maybe' : 'too late'
  }
}

/** Which of these their clients want stopped. */
export async function stoppedAmong(sql: Sql, companyId: number, uuids: string[]): Promise<Set<string>> {
  return new Set((await selectStopped(sql, companyId, uuids)).map(({ uuid }) => uuid))
}

const AT_ONCE = 1000

/**
 * Ends what is to be stopped and in nobody's hands: the later steps of a dispatch that was stopped for good, and what a
 * worker was asked about and gave back. Requests of what waits no more are forgotten. The trouble of one company is none
 * of the others': it is thrown when all have had their turn.
 */
export async function endStopped(pool: Pool, context: RecordingContext): Promise<void> {
  const troubles: Error[] = []
  let requests: StopRequest[] = []
  do {
    requests = await selectStopRequests(pool, requests.at(-1) ?? FIRST, AT_ONCE)
    for (const [companyId, ofCompany] of Map.groupBy(requests, request => request.companyId)) {
      const uuids = ofCompany.map(({ uuid }) => uuid)
      await endRequested(pool, companyId, uuids, context).catch(cause => {
        if (isDatabaseAway(cause)) throw cause
        troubles.push(new Error(`company ${companyId}: ${uuids.length} stop requests failed`, { cause }))
      })
    }
  } while (requests.length === AT_ONCE)
  if (troubles.length > 0) throw new AggregateError(troubles, 'stop requests failed')
}

const FIRST: StopRequest = { companyId: 0, uuid: '00000000-0000-0000-0000-000000000000' }

/** What is in hand is left alone without a lock: its worker asks for it again and again. */
async function endRequested(pool: Pool, companyId: number, uuids: string[], context: RecordingContext) {
  const found = await store.selectStoppable(pool, companyId, uuids)
  const requested = new Set(uuids)
  const waiting = found.filter(({ uuid, status }) => status === 'CREATED' && requested.has(uuid))
  const free = uuidsOf(waiting, false)
  if (free.length > 0) await stopMessages(pool, companyId, free, context)
  await deleteStopRequests(pool, companyId, uuids)
}
