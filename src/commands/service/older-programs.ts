import { setTimeout as pause } from 'node:timers/promises'
import { UsageError } from '../../base/errors.ts'
import { raiseMinimumVersion, restoreMinimumVersion, schemaVersionsOf } from '../../db/migrate.ts'
import type { Sql } from '../../db/sql.ts'
import { programsBefore, type RunningProgram } from '../../domain/health/versions.ts'

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
 * Before a contracting migration: tells older programs to stop, and waits until all have ended. When the wait fails, the
 * migration is not applied, so older programs may run again.
 */
export const stopOlderPrograms =
  (sql: Sql, onWaiting: (older: string) => void, patienceMs = PATIENCE_MS) =>
  async (minimumVersion: number) => {
    const { minimum } = await schemaVersionsOf(sql)
    await raiseMinimumVersion(sql, minimumVersion)
    try {
      await waitForEnd(sql, minimumVersion, onWaiting, patienceMs)
    } catch (error) {
      await restoreMinimumVersion(sql, minimum)
      throw error
    }
  }

async function waitForEnd(sql: Sql, version: number, onWaiting: (older: string) => void, patienceMs: number) {
  for (const until = performance.now() + patienceMs; ; ) {
    const older = await programsBefore(sql, version)
    if (older.length === 0) return
    if (performance.now() > until) throw new UsageError(`These processes do not stop: ${inWords(older)}. Stop them.`)
    onWaiting(inWords(older))
    await pause(LOOK_EVERY_MS)
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
