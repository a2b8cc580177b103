import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'

export type Loop = {
  /** Starts the next run at once. */
  hurry(): void
  stop(): Promise<void>
}

type Work = (isStopping: () => boolean) => Promise<unknown>

/**
 * Repeats a piece of work with a pause in between. Two runs never overlap. A run that fails is logged and the next run
 * comes as usual, so that the loop survives a database that cannot be reached. `stop` waits until the current run ends.
 * Long work asks `isStopping` between its steps.
 */
export function repeat(name: string, everyMs: number, log: Logger, work: Work): Loop {
  let isStopping = false
  let waiting = new AbortController()
  const running = run()

  async function run() {
    while (!isStopping) {
      waiting = new AbortController()
      await work(() => isStopping).catch(err => log.error({ err, loop: name }, 'loop.failed'))
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
