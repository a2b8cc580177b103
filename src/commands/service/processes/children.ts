import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'

/** A child sends this message when it is at work. */
export const READY = 'ready'

const RESTART_MS = 1000

/** The processes that `serve` has started. A process that dies is started again after a pause. */
export class Children {
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #alive = new Set<ChildProcess>()
  readonly #kept: Promise<void>[] = []

  constructor(log: Logger) {
    this.#log = log
  }

  /** Fulfilled when the process is at work for the first time. */
  keep(kind: 'api' | 'engine', start: () => ChildProcess): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#kept.push(this.#run(kind, start, resolve))
    return promise
  }

  /** Each process finishes its work. It ends itself after two minutes at the latest. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const child of this.#alive) child.kill('SIGTERM')
    await Promise.all(this.#kept)
  }

  async #run(kind: string, start: () => ChildProcess, becomeReady: () => void) {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const child = start()
      this.#alive.add(child)
      child.on('message', message => {
        if (message === READY) becomeReady()
      })
      const end = await endOf(child)
      this.#alive.delete(child)
      if (signal.aborted) return
      this.#log.error({ childPid: child.pid, ...end }, `${kind}.died`)
      await pause(RESTART_MS, undefined, { signal }).catch(() => {})
    }
  }
}

const endOf = (child: ChildProcess) =>
  once(child, 'exit').then(
    ([code, signal]) => ({ code, signal }),
    err => ({ err }), // it could not even be started
  )
