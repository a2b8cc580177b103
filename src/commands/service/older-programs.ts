import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../../base/errors.ts'
import { type MigrateOptions, type Migration, migrate, raiseMinimumVersion } from '../../db/migrate.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { programsBefore, type RunningProgram } from '../../domain/health/versions.ts'
import { SIGNALS } from '../signals.ts'
import { ECHO_MS } from './stopping.ts'

/** A process that is told to stop ends within two minutes. The row of a killed process counts for some seconds more. */
const PATIENCE_MS = 150_000
const LOOK_EVERY_MS = 200

/** Before a contracting migration: refuses while a process runs that needs what the migration removes. */
export const refuseOlderPrograms = (sql: Sql) => async (minimumVersion: number) => {
  const older = await programsBefore(sql, minimumVersion)
  if (older.length === 0) return
  throw new UsageError(
    `The next migration removes what programs before schema version ${minimumVersion} use, and these run: ${inWords(older)}. Stop them first, or run \`tidings migrate --stop-older\`.`,
  )
}

/**
 * Migrates. Before a contracting migration it tells older programs to stop, and waits until all have ended. From then on the
 * first signal gives the migration up, and `migrate` lets them start again. A later signal ends the process at once.
 */
export async function migrateStoppingOlder(
  sql: Pool,
  onWaiting: (older: string) => void,
  { patienceMs = PATIENCE_MS, ...options }: MigrateOptions & { patienceMs?: number } = {},
): Promise<Migration[]> {
  const interruption = new Interruption()
  const { signal } = interruption
  const beforeContracting = async (minimumVersion: number) => {
    interruption.watch()
    await raiseMinimumVersion(sql, minimumVersion)
    await waitForEnd(sql, minimumVersion, { onWaiting, patienceMs, signal })
  }
  const onLowered = () => interruption.addToReason('Older programs may start again.')
  return migrate(sql, { ...options, beforeContracting, signal, onLowered }).finally(() => interruption.unwatch())
}

type Waiting = { onWaiting: (older: string) => void; patienceMs: number; signal: AbortSignal }

async function waitForEnd(sql: Sql, version: number, { onWaiting, patienceMs, signal }: Waiting) {
  for (const until = performance.now() + patienceMs; ; ) {
    const older = await programsBefore(sql, version)
    if (older.length === 0) return
    signal.throwIfAborted()
    if (performance.now() > until) throw new UsageError(`These processes do not stop: ${inWords(older)}. Stop them.`)
    onWaiting(inWords(older))
    await pause(LOOK_EVERY_MS)
  }
}

class Interruption {
  readonly #controller = new AbortController()
  readonly #reason = new UsageError('The migration was interrupted.')
  readonly signal = this.#controller.signal

  watch(): void {
    this.unwatch() // an earlier migration may have begun it
    for (const signal of SIGNALS) process.on(signal, this.#interrupt)
  }

  unwatch(): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt)
  }

  readonly #interrupt = () => {
    setTimeout(() => this.unwatch(), ECHO_MS).unref()
    this.#controller.abort(this.#reason)
  }

  /** For facts that are known only after the signal. */
  addToReason(sentence: string): void {
    this.#reason.message += ` ${sentence}`
  }
}

const MOST_NAMED = 5

export function inWords(programs: RunningProgram[]): string {
  const named = programs.slice(0, MOST_NAMED).map(({ kind, host, pid, version, schemaVersion }) => {
    const schema = schemaVersion === null ? 'before schema 15' : `schema ${schemaVersion}`
    return `${kind} ${host}:${pid} (${version}, ${schema})`
  })
  const more = programs.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
