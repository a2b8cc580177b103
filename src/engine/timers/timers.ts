import type { Logger } from 'pino'
import { isDatabaseAway, isDatabaseBusy } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Pool } from '../../db/sql.ts'
import type { CascadeContext } from '../../domain/cascade-steps/cascade-steps.ts'
import { expiringAmong, overdueWaiting, passSteps, tellUnread } from '../../domain/expiry/expiry.ts'
import { placeDue } from '../../domain/singles/singles.ts'
import { dropTimers, type TimerKind, takeTimers } from '../../domain/timers/timers.ts'
import type { Recorder } from '../recording/recorder.ts'
import { unlessSetAside } from '../recording/set-aside.ts'

export type TimersContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  recorder: Pick<Recorder, 'note'>
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
      const byKind = Map.groupBy(timers, ({ kind }) => kind)
      for (const kind of IN_TURN) {
        const uuids = byKind.get(kind)?.map(({ uuid }) => uuid)
        if (uuids) await seeToKind(context, companyId, kind, uuids)
      }
    }
  } while (taken === AT_ONCE)
}

/** What comes into its lane too late is ended there. */
const IN_TURN: TimerKind[] = ['send', 'complete', 'expire', 'step', 'unread']

/** The trouble of one timer is none of the others': it is taken again in half a minute. */
async function seeToKind(context: TimersContext, companyId: number, kind: TimerKind, uuids: string[]): Promise<void> {
  try {
    const later = await seeTo[kind](context, companyId, uuids)
    const done = uuids.filter(uuid => !later?.has(uuid))
    await dropTimers(context.sql, companyId, kind, done)
  } catch (err) {
    const isShared = uuids.length > 1 && !isDatabaseAway(err) && !isDatabaseBusy(err)
    if (isShared) for (const uuid of uuids) await seeToKind(context, companyId, kind, [uuid])
    else context.log.error({ err, companyId, kind, timers: uuids.length }, 'timers.failed')
  }
}

type SeeTo = (context: TimersContext, companyId: number, uuids: string[]) => Promise<Set<string> | undefined>

/** Each may give back whose timers cannot be seen to yet. */
const seeTo: Record<TimerKind, SeeTo> = { send: place, complete: endUnsent, expire, step: pass, unread }

async function place({ sql, clock, billingZone }: TimersContext, companyId: number, uuids: string[]) {
  await placeDue(sql, companyId, uuids, { billingZone, now: clock() })
  return undefined
}

/** What has been sent lives on: only what waits is too late. */
async function endUnsent(context: TimersContext, companyId: number, uuids: string[]) {
  const { waiting, leased } = await expiringAmong(context.sql, companyId, uuids)
  await refuseLate(context, companyId, waiting)
  return new Set(leased)
}

async function expire(context: TimersContext, companyId: number, uuids: string[]) {
  const { waiting, sent, leased } = await expiringAmong(context.sql, companyId, uuids)
  await Promise.all([refuseLate(context, companyId, waiting), endSent(context, companyId, sent)])
  return new Set(leased)
}

async function pass(context: TimersContext, companyId: number, uuids: string[]) {
  const { sql, clock, billingZone, cascades } = context
  const ending = await passSteps(sql, companyId, uuids, { ...cascades, pool: sql, billingZone, now: clock() })
  await endSent(context, companyId, ending)
  return undefined
}

async function unread({ sql, clock, billingZone }: TimersContext, companyId: number, uuids: string[]) {
  await tellUnread(sql, companyId, uuids, { billingZone, now: clock() })
  return undefined
}

function refuseLate(
  { clock, recorder }: Pick<TimersContext, 'clock' | 'recorder'>,
  companyId: number,
  uuids: string[],
) {
  const refused = { at: clock(), errorCode: errorCodes.expired }
  return Promise.all(uuids.map(uuid => recorder.note(companyId, { uuid, refused }).catch(unlessSetAside)))
}

function endSent({ clock, recorder }: TimersContext, companyId: number, uuids: string[]) {
  const final = { status: 'FAILED' as const, at: clock(), errorCode: errorCodes.lifetimeOver }
  return Promise.all(uuids.map(uuid => recorder.note(companyId, { uuid, final }).catch(unlessSetAside)))
}

/** Ends single messages that waited too long without a timer of their own, because their lane stood still. */
export async function endWaiting(context: Pick<TimersContext, 'sql' | 'clock' | 'recorder'>) {
  const overdue = await overdueWaiting(context.sql, context.clock(), AT_ONCE)
  const ending = [...Map.groupBy(overdue, ({ companyId }) => companyId)].map(([companyId, messages]) =>
    refuseLate(
      context,
      companyId,
      messages.map(({ uuid }) => uuid),
    ),
  )
  await Promise.all(ending)
}
