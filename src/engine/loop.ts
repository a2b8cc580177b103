import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'

export type Loop = {
  /** The next turn comes at once. */
  hurry(): void
  stop(): Promise<void>
}

/**
 * Does a piece of work again and again, never twice at once. A failure is logged and the next turn comes as usual,
 * so that a database that was away is found again. `stop` waits for the turn in hand.
 */
export function repeat(name: string, everyMs: number, log: Logger, work: () => Promise<unknown>): Loop {
  let isStopping = false
  let waiting = new AbortController()
  const running = run()

  async function run() {
    while (!isStopping) {
      waiting = new AbortController()
      await work().catch(err => log.error({ err, loop: name }, 'loop.failed'))
      await pause(everyMs, undefined, { signal: waiting.signal }).catch(() => {})
    }
  }

  return {
    hurry: () => waiting.abort(),
    async stop() {
      isStopping = true
      waiting.abort()
      await running
    },
  }
}
