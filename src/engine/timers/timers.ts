import type { Logger } from 'pino'
import { isDatabaseAway, isDatabaseBusy } from '../../base/database-losses.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { ignoreNodeAway } from '../../db/reachable.ts'
import type { Pool } from '../../db/sql.ts'
import type { CascadeContext } from '../../domain/cascade-steps/cascade-steps.ts'
import {
  type Expiring,
  endOverdueSteps,
  enqueueUnread,
  expiringAmong,
  expiringWithin,
  overdueWaiting,
} from '../../domain/expiry/expiry.ts'
import { appendToLanes } from '../../domain/singles/singles.ts'
import {
  type DueExpiry,
  dropExpiries,
  dropTimers,
  type TimerKind,
  takeExpiries,
  takeTimers,
} from '../../domain/timers/timers.ts'
import type { Recorder } from '../recording/recorder.ts'
import { ignoreSetAside } from '../recording/set-aside.ts'

export type TimersContext = {
  sql: Pool
  clock: () => Date
  log: Logger
  recorder: Pick<Recorder, 'noteSoon'>
  billingZone: string
  cascades: Pick<CascadeContext, 'numbering' | 'linkBase'>
}

const AT_ONCE = 1000

/** Runs all timers of single messages that are due. */
export async function runDueTimers(context: TimersContext): Promise<void> {
  let taken = 0
  do {
    const due = await takeTimers(context.sql, context.clock(), AT_ONCE)
    taken = due.length
    for (const [companyId, timers] of Map.groupBy(due, timer => timer.companyId)) {
      const byKind = Map.groupBy(timers, ({ kind }) => kind)
      for (const kind of IN_ORDER) {
        const uuids = byKind.get(kind)?.map(({ uuid }) => uuid)
        if (uuids) await runTimers(context, companyId, kind, uuids)
      }
    }
  } while (taken === AT_ONCE)
}

/** `send` comes before the kinds that end a message: a message that is too late gets its place in the lane and fails there. */
const IN_ORDER: TimerKind[] = ['send', 'complete', 'expire', 'step', 'unread']

/** When the timers cannot be run together, each is run alone. A timer that fails is taken again in half a minute. */
async function runTimers(context: TimersContext, companyId: number, kind: TimerKind, uuids: string[]): Promise<void> {
  try {
    const later = await actions[kind](context, companyId, uuids)
    const done = uuids.filter(uuid => !later?.has(uuid))
    await dropTimers(context.sql, companyId, kind, done)
  } catch (err) {
    const isShared = uuids.length > 1 && !isDatabaseAway(err) && !isDatabaseBusy(err)
    if (isShared) for (const uuid of uuids) await runTimers(context, companyId, kind, [uuid])
    else context.log.error({ err, companyId, kind, timers: uuids.length }, 'timers.failed')
  }
}

/** Returns the messages whose timers must stay, because a worker has the lease of the message. */
type Action = (context: TimersContext, companyId: number, uuids: string[]) => Promise<Set<string> | undefined>

/** `expire` timers are made by older programs alone. */
const actions: Record<TimerKind, Action> = {
  send: placeInLanes,
  complete: failUnsent,
  expire,
  step: endSteps,
  unread: reportUnread,
}

async function placeInLanes({ sql, clock, billingZone }: TimersContext, companyId: number, uuids: string[]) {
  await appendToLanes(sql, companyId, uuids, { billingZone, now: clock() })
  return undefined
}

/** Fails messages that still wait. Messages that were sent are not affected. */
async function failUnsent(context: TimersContext, companyId: number, uuids: string[]) {
  const { waiting, leased } = await expiringAmong(context.sql, companyId, uuids)
  await failWaiting(context, companyId, waiting)
  return new Set(leased)
}

async function expire(context: TimersContext, companyId: number, uuids: string[]) {
  const expiring = await expiringAmong(context.sql, companyId, uuids)
  await failExpired(context, companyId, expiring)
  return new Set(expiring.leased)
}

async function endSteps(context: TimersContext, companyId: number, uuids: string[]) {
  const { sql, clock, billingZone, cascades } = context
  const ending = await endOverdueSteps(sql, companyId, uuids, { ...cascades, pool: sql, billingZone, now: clock() })
  await failSent(context, companyId, ending)
  return undefined
}

async function reportUnread({ sql, clock }: TimersContext, companyId: number, uuids: string[]) {
  await enqueueUnread(sql, companyId, uuids, clock())
  return undefined
}

async function failExpired(context: TimersContext, companyId: number, { waiting, sent }: Expiring) {
  await Promise.all([failWaiting(context, companyId, waiting), failSent(context, companyId, sent)])
}

function failWaiting(
  { clock, recorder }: Pick<TimersContext, 'clock' | 'recorder'>,
  companyId: number,
  uuids: string[],
) {
  const refused = { at: clock(), errorCode: errorCodes.expired }
  return Promise.all(uuids.map(uuid => recorder.noteSoon(companyId, { uuid, refused }).catch(ignoreSetAside)))
}

function failSent({ clock, recorder }: TimersContext, companyId: number, uuids: string[]) {
  const final = { status: 'FAILED' as const, at: clock(), errorCode: errorCodes.lifetimeOver }
  return Promise.all(uuids.map(uuid => recorder.noteSoon(companyId, { uuid, final }).catch(ignoreSetAside)))
}

/** Fails the messages whose ttl is over. */
export async function runDueExpiries(context: TimersContext): Promise<void> {
  for (;;) {
    const due = await takeExpiries(context.sql, context.clock(), AT_ONCE)
    if (due.length === 0) return
    for (const [companyId, expiries] of Map.groupBy(due, expiry => expiry.companyId))
      await runExpiries(context, companyId, expiries)
  }
}

/** As with timers: when expiries cannot be run together, each is run alone, and an expiry that fails is taken again. */
async function runExpiries(context: TimersContext, companyId: number, expiries: DueExpiry[]): Promise<void> {
  try {
    const expiring = await expiringWithin(context.sql, companyId, expiries)
    await failExpired(context, companyId, expiring)
    const done = expiries.filter(({ firstUuid, lastUuid }) =>
      expiring.leased.every(uuid => uuid < firstUuid || uuid > lastUuid),
    )
    await dropExpiries(context.sql, companyId, done)
  } catch (err) {
    const isShared = expiries.length > 1 && !isDatabaseAway(err) && !isDatabaseBusy(err)
    if (isShared) for (const expiry of expiries) await runExpiries(context, companyId, [expiry])
    else context.log.error({ err, companyId, expiries: expiries.length }, 'expiries.failed')
  }
}

/** Fails single messages that have no timer and waited longer than the common lifetime, because their lane did not move. */
export async function failOverdueWaiting(context: Pick<TimersContext, 'sql' | 'clock' | 'recorder'>) {
  const overdue = await overdueWaiting(context.sql, context.clock(), AT_ONCE)
  const ending = [...Map.groupBy(overdue, ({ companyId }) => companyId)].map(([companyId, messages]) => {
    const uuids = messages.map(({ uuid }) => uuid)
    return failWaiting(context, companyId, uuids).catch(ignoreNodeAway)
  })
  await Promise.all(ending)
}
