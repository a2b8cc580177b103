import type { Logger } from 'pino'
import { errorCodes } from '../base/error-codes.ts'
import type { Pool } from '../db/sql.ts'
import type { CascadeContext } from '../domain/cascades/cascades.ts'
import { expiringAmong, overdueWaiting, passSteps, tellUnread } from '../domain/sending/timing.ts'
import { placeDue } from '../domain/singles/singles.ts'
import { type DueTimer, dropTimers, takeTimers } from '../domain/timers/timers.ts'
import type { Recorder } from './recorder.ts'

export type TimersContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  recorder: Recorder
  billingZone: string
  cascades: Pick<CascadeContext, 'numbering' | 'linkBase'>
}

const AT_ONCE = 1000

/** Sees to what is to happen to single messages at moments of their own. */
export async function seeToTimers(context: TimersContext): Promise<void> {
  let taken = 0
  do {
    const due = await takeTimers(context.sql, context.clock(), AT_ONCE)
    taken = due.length
    for (const [companyId, timers] of Map.groupBy(due, timer => timer.companyId)) {
      // One company's trouble is not the others': its timers are taken again in half a minute.
      await seeToCompany(context, companyId, timers).catch(err =>
        context.log.error({ err, companyId }, 'timers.failed'),
      )
    }
  } while (taken === AT_ONCE)
}

/** A timer that cannot be seen to yet is taken again half a minute later. */
async function seeToCompany(context: TimersContext, companyId: number, timers: DueTimer[]) {
  const { sql, clock, billingZone } = context
  const uuidsOf = (kind: DueTimer['kind']) => timers.filter(timer => timer.kind === kind).map(({ uuid }) => uuid)
  const [due, late, over] = [uuidsOf('send'), uuidsOf('complete'), uuidsOf('expire')]
  const [steps, unread] = [uuidsOf('step'), uuidsOf('unread')]

  if (due.length > 0) await placeDue(sql, companyId, due, { billingZone, now: clock() })
  const held = late.length > 0 ? await endUnsent(context, companyId, late) : new Set<string>()
  const later = over.length > 0 ? await expire(context, companyId, over) : new Set<string>()
  if (steps.length > 0) await pass(context, companyId, steps)
  if (unread.length > 0) await tellUnread(sql, companyId, unread, clock())
  await dropTimers(
    sql,
    timers.filter(
      ({ uuid, kind }) => !(kind === 'expire' && later.has(uuid)) && !(kind === 'complete' && held.has(uuid)),
    ),
  )
}

/** What has been sent lives on: only what waits is too late. */
async function endUnsent(context: TimersContext, companyId: number, uuids: string[]): Promise<Set<string>> {
  const { waiting, inHand } = await expiringAmong(context.sql, companyId, uuids)
  await refuseLate(context, companyId, waiting)
  return new Set(inHand)
}

function refuseLate({ clock, recorder }: TimersContext, companyId: number, uuids: string[]) {
  const refused = { at: clock(), errorCode: errorCodes.expired }
  return Promise.all(uuids.map(uuid => recorder.note(companyId, { uuid, refused })))
}

async function expire(context: TimersContext, companyId: number, uuids: string[]): Promise<Set<string>> {
  const { waiting, sent, inHand } = await expiringAmong(context.sql, companyId, uuids)
  const final = undelivered(context.clock())
  await Promise.all([
    refuseLate(context, companyId, waiting),
    ...sent.map(uuid => context.recorder.note(companyId, { uuid, final })),
  ])
  return new Set(inHand)
}

async function pass(
  { sql, clock, recorder, billingZone, cascades }: TimersContext,
  companyId: number,
  uuids: string[],
) {
  const now = clock()
  const ending = await passSteps(sql, companyId, uuids, { ...cascades, pool: sql, billingZone, now })
  await Promise.all(ending.map(uuid => recorder.note(companyId, { uuid, final: undelivered(now) })))
}

/** Ends single messages that waited too long without a timer of their own, because their lane stood still. */
export async function endWaiting({ sql, clock, recorder }: Pick<TimersContext, 'sql' | 'clock' | 'recorder'>) {
  const at = clock()
  const overdue = await overdueWaiting(sql, at, AT_ONCE)
  const refused = { at, errorCode: errorCodes.expired }
  await Promise.all(new Set(overdue.map(({ companyId, uuid }) => recorder.note(companyId, { uuid, refused }))))
}

const undelivered = (at: Date) => ({ status: 'FAILED' as const, at, errorCode: errorCodes.lifetimeOver })
