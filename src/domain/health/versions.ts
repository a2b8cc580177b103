import { newestVersion } from '../../db/migrate.ts'
import type { Sql } from '../../db/sql.ts'
import { type ProcessHealth, processesIn } from './processes.ts'

/** A running process and the versions of its program. A program before schema version 15 does not state it: null. */
export type RunningProgram = Pick<ProcessHealth, 'kind' | 'host' | 'pid' | 'version' | 'schemaVersion'>

/** The processes that run now, on all machines. */
export async function runningPrograms(sql: Sql): Promise<RunningProgram[]> {
  return (await processesIn(sql))
    .filter(({ problems }) => !problems.includes('gone'))
    .map(({ kind, host, pid, version, schemaVersion }) => ({ kind, host, pid, version, schemaVersion }))
}

/** Running processes whose program does not know this version of the schema. */
export async function programsBefore(sql: Sql, schemaVersion: number): Promise<RunningProgram[]> {
  return (await runningPrograms(sql)).filter(program => (program.schemaVersion ?? 0) < schemaVersion)
}

/** The newest schema version that this program knows. */
export const ownSchemaVersion = newestVersion

export { schemaVersionsOf as schemaOf } from '../../db/migrate.ts'
