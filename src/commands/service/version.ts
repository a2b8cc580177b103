import { versionOfProgram } from '../../base/process/vitals.ts'
import { type Database, openDatabase } from '../../db/database.ts'
import { newestVersion, schemaVersionsOf } from '../../db/migrate.ts'
import { type RunningProgram, runningPrograms } from '../../domain/health/versions.ts'
import { type Call, closingAfterwards } from '../command.ts'
import { sentenceOf } from '../failure.ts'
import { schemaInWords } from './migrate.ts'

/** The first schema version in which processes state their own. */
const FIRST_STATED = 15

type DatabaseVersions = { schema: number; minimum: number; processes: RunningProgram[] }

/** The versions of this program, of the database and of all running processes: a mixed fleet is seen at once. */
export async function printVersions({ config, print }: Call) {
  const program = { version: versionOfProgram(), schema: await newestVersion() }
  const database = await openDatabase(config, {}).then(readVersions, (error: unknown) => ({ error: reasonOf(error) }))
  const about = 'error' in database ? [`No database: ${database.error}`] : inWords(database)
  print({ ...program, database }, [`tidings ${program.version}, schema version ${program.schema}`, ...about].join('\n'))
}

const readVersions = (database: Database): Promise<DatabaseVersions> =>
  closingAfterwards(database, async () => {
    const { version, minimum } = await schemaVersionsOf(database.sql)
    const processes = version >= FIRST_STATED ? await runningPrograms(database.sql) : []
    return { schema: version, minimum, processes }
  })

function reasonOf(error: unknown): string {
  const sentence = sentenceOf(error)
  if (sentence === undefined) throw error
  return sentence
}

const inWords = ({ schema, minimum, processes }: DatabaseVersions): string[] => [
  schemaInWords({ version: schema, minimum }),
  ...processes.map(({ kind, host, pid, version, schemaVersion }) => {
    const stated = schemaVersion === null ? 'before schema version 15' : `schema version ${schemaVersion}`
    return `  ${kind} ${host}:${pid}  ${version}, ${stated}`
  }),
]
