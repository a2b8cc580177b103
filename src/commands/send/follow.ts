import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../../base/errors.ts'
import { moneyToNumber } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyDispatch } from '../../domain/dispatches/reading.ts'
import { failuresOf } from '../../domain/messages/messages.ts'
import { reasonsToWait, type WaitReason } from '../../domain/waiting/waiting.ts'
import { reasonOf } from '../reasons.ts'
import { waitSentence } from '../wait-reasons.ts'
import type { Job } from './order.ts'
import { barOf, countOf, createPace, durationOf } from './progress.ts'
import type { Talk } from './talk.ts'

const LOOK_EVERY_MS = 300
const STANDSTILL_MS = 2000
const SAME_REASON_EVERY_MS = 30_000

type Followed = Awaited<ReturnType<typeof requireAnyDispatch>>
type Failures = Awaited<ReturnType<typeof failuresOf>>

/** Shows how a started dispatch goes on and what it waits for, until it is COMPLETED. */
export async function follow({ sql }: Job, dispatchId: number, talk: Talk): Promise<Followed> {
  const pace = createPace()
  const explainWaiting = createExplainer(sql, talk)
  for (;;) {
    const now = await requireAnyDispatch(sql, dispatchId)
    const { total, delivered, failed, pending } = now.messages
    if (now.status === 'COMPLETED') return now
    if (now.status === 'STOPPED') {
      throw new UsageError(`Dispatch ${dispatchId} was stopped: the same command starts it again.`)
    }
    const { perSecond, secondsLeft } = pace({ atMs: performance.now(), done: delivered + failed, left: pending })
    const left = secondsLeft === undefined ? '' : `, ${durationOf(secondsLeft)} left`
    talk.show(
      `${barOf(delivered + failed, total)} ${countOf(delivered)} delivered, ${countOf(failed)} failed, ` +
        `${countOf(pending)} pending, ${countOf(Math.round(perSecond))}/s${left}`,
    )
    await explainWaiting(now)
    await pause(LOOK_EVERY_MS)
  }
}

/** Says why nothing has moved for a while; a limit that holds everything up is told also while messages move. */
function createExplainer(sql: Pool, talk: Talk) {
  const saidAt = new Map<WaitReason['kind'], number>()
  let lastDone = -1
  let movedAt = performance.now()
  let lookedAt = performance.now()
  return async (dispatch: Followed) => {
    const now = performance.now()
    const done = dispatch.messages.delivered + dispatch.messages.failed
    if (done !== lastDone) movedAt = now
    lastDone = done
    if (now - lookedAt < STANDSTILL_MS) return
    lookedAt = now
    const isStill = now - movedAt >= STANDSTILL_MS
    for (const reason of await reasonsToWait(sql, dispatch, new Date())) {
      const isTold = now - (saidAt.get(reason.kind) ?? Number.NEGATIVE_INFINITY) < SAME_REASON_EVERY_MS
      const isKnownLimit = reason.kind === 'limit' && saidAt.has('limit')
      if (isTold || isKnownLimit || (!isStill && reason.kind !== 'limit')) continue
      saidAt.set(reason.kind, now)
      talk.say(waitSentence(reason))
    }
  }
}

/** The result of the dispatch, with the reasons of failed messages. */
export async function concludeDispatch({ sql }: Job, done: Followed) {
  const failures = await failuresOf(sql, done)
  return { value: summaryOf(done, failures), text: textAbout(done, failures) }
}

const summaryOf = ({ dispatchId, status, messages, parts, priceEstimate, currency }: Followed, failures: Failures) => ({
  dispatchId,
  status,
  total: messages.total,
  delivered: messages.delivered,
  failed: messages.failed,
  parts: parts.total,
  priceEstimate: { total: moneyToNumber(priceEstimate), currency },
  failures: failures.map(({ errorCode, messages: count }) => ({ errorCode, reason: reasonOf(errorCode), count })),
})

const textAbout = ({ dispatchId, messages: { total, delivered, failed } }: Followed, failures: Failures) =>
  [
    `Dispatch ${dispatchId} is COMPLETED: of ${countOf(total)} messages ${countOf(delivered)} were delivered and ${countOf(failed)} failed.`,
    ...failures.map(({ errorCode, messages }) => `  ${countOf(messages)} x ${errorCode} ${reasonOf(errorCode)}`),
  ].join('\n')
