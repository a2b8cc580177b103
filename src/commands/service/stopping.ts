import type { Logger } from 'pino'
import { SIGNALS } from '../signals.ts'

export type Stopped = {
  promise: Promise<void>
  isAsked: () => boolean
  /** Stops the process as a signal does. */
  ask(why: string): void
}

/** A process that was asked to stop has ended after this time. Units and containers wait a little longer. */
export const STOPPED_WITHIN_MS = 120_000
/** One Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. */
export const ECHO_MS = 1_000
const LOOK_FOR_PARENT_EVERY_MS = 500

/**
 * The first signal asks to stop; another one after it, or two minutes without an end, ends the process as it is.
 * An engine that `serve` has started also stops when its parent is gone, however it went. So does `serve` itself with
 * `withParent`: npm passes SIGTERM on, but can do nothing when it is killed itself.
 */
export function untilStopped(log: Logger, { withParent }: { withParent: boolean }): Stopped {
  const { promise, resolve } = Promise.withResolvers<void>()
  let askedAt: number | undefined

  function ask(why: string) {
    if (askedAt !== undefined) return
    askedAt = performance.now()
    tell(log, why)
    setTimeout(() => process.exit(1), STOPPED_WITHIN_MS).unref()
    resolve()
  }

  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (askedAt !== undefined && performance.now() - askedAt > ECHO_MS) process.exit(1)
      ask(signal)
    })
  }
  process.once('disconnect', () => ask('the parent is gone'))
  process.channel?.unref() // listening for it must not keep a child alive that has finished
  if (withParent) onParentGone(() => ask('the parent is gone'))
  return { promise, isAsked: () => askedAt !== undefined, ask }
}

/** A process whose parent has ended gets another one. */
function onParentGone(then: () => void) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    then()
  }, LOOK_FOR_PARENT_EVERY_MS).unref()
}

/** Prints a sentence on a terminal at any log level. A child of `serve` prints nothing, because its parent does. */
function tell(log: Logger, why: string) {
  if (process.send) return
  if (process.stderr.isTTY) {
    process.stderr.write('\ntidings: stopping after the running work is finished; Ctrl-C again ends it at once.\n')
  } else log.info({ why }, 'service.stopping')
}
