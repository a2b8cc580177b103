import { availableParallelism } from 'node:os'
import { isWatched, nameOf, readDatabaseAddress } from '../../../base/database-address.ts'
import { UsageError } from '../../../base/errors.ts'
import { type Config, MOST_PROCESSES } from '../../../config.ts'
import { CONNECTIONS_FOR_RECORDING } from '../../../engine/codes/connections.ts'
import { readId } from '../../command-line.ts'

/** The processes that `serve` runs. With one HTTP process, `serve` is that process itself. */
export type ProcessCounts = { api: number; engines: number }

/** Counts that the operator chose. Both are chosen by the number of cores otherwise. */
export type WantedCounts = { api: number | undefined; engines: number | undefined }

type Settings = Pick<Config, 'databaseUrl' | 'databaseConnections'> & Partial<Pick<Config, 'readUrl' | 'listenUrl'>>

/**
 * An estimate for larger machines from measurements on two cores. One HTTP process and one engine keep about three cores busy, with the
 * database (`npm run bench -- peers`: 0.23, 0.15 and 0.18 ms for a single message). Two of each need 1.9 times the processor time for a
 * message (`npm run bench -- cores`: 1.62 and 0.84 ms), so they deliver more from about six cores on.
 */
const CORES_FOR_ONE_OF_EACH = 4
const MOST_BY_CORES = 4
/** With several HTTP processes, `serve` only starts them and prepares the demo. Its pool opens further connections on demand. */
const CONNECTIONS_OF_PARENT = 2

export const countByCores = (cores = availableParallelism()): number =>
  Math.min(Math.max(Math.floor(cores / CORES_FOR_ONE_OF_EACH), 1), MOST_BY_CORES)

/** The options of the command line, else the settings. */
export function wantedCounts(
  options: Record<string, string | undefined>,
  { apiProcesses, engines }: Pick<Config, 'apiProcesses' | 'engines'>,
): WantedCounts {
  return { api: countOption(options, 'api') ?? apiProcesses, engines: countOption(options, 'engines') ?? engines }
}

function countOption(options: Record<string, string | undefined>, name: string): number | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const count = readId(text, name)
  if (count > MOST_PROCESSES) throw new UsageError(`--${name} must be at most ${MOST_PROCESSES}, not "${text}".`)
  return count
}

/**
 * The counts that fit into the connections of the database server. Counts that were not chosen become smaller until they
 * fit. Chosen counts that do not fit are refused. One process of each kind always starts, as it opens connections on demand.
 */
export function fittingCounts(
  wanted: WantedCounts,
  settings: Settings,
  allowed: number,
  byCores = countByCores(),
): ProcessCounts {
  for (let count = byCores; count > 1; count--) {
    const counts = { api: wanted.api ?? count, engines: wanted.engines ?? count }
    if (connectionsOf(counts, settings) <= allowed) return counts
  }
  const least = { api: wanted.api ?? 1, engines: wanted.engines ?? 1 }
  if (least.api + least.engines > 2) refuseTooMany(least, settings, allowed)
  return least
}

function refuseTooMany(counts: ProcessCounts, settings: Settings, allowed: number) {
  const needed = connectionsOf(counts, settings)
  if (needed <= allowed) return
  throw new UsageError(
    `${inWords(counts)} may open ${needed} connections to the database, which allows ${allowed}: run fewer, lower TIDINGS_DATABASE_CONNECTIONS (${settings.databaseConnections}), or raise max_connections of the server.`,
  )
}

/**
 * The connections to the primary. Each process has its pool and, with the embedded server, one connection more. An engine
 * also has one for announcements. Each address whose hosts are watched has one more. The codes thread of an engine uses a
 * part of its pool, and has the other connections once more, and some for recording.
 */
export function connectionsOf({ api, engines }: ProcessCounts, settings: Settings): number {
  const { databaseUrl, databaseConnections, readUrl, listenUrl } = settings
  const extra = databaseUrl === undefined ? 1 : watching(databaseUrl)
  const ofParent = api > 1 ? CONNECTIONS_OF_PARENT + extra : 0
  const ofApi = databaseConnections + extra + watchingForReads(readUrl, databaseUrl)
  const besidePool = 1 + extra + watching(listenUrl)
  const ofThread = connectionsForCodes(databaseConnections) > 0 ? besidePool + CONNECTIONS_FOR_RECORDING : 0
  const ofEngine = databaseConnections + besidePool + ofThread
  return ofParent + api * ofApi + engines * ofEngine
}

const MOST_FOR_CODES = 3

/** How many of the connections of an engine its codes thread has. An engine with few has no such thread. */
export const connectionsForCodes = (databaseConnections: number): number =>
  Math.min(MOST_FOR_CODES, Math.floor(databaseConnections / 3))

const watching = (url: string | undefined) => Number(url !== undefined && isWatched(readDatabaseAddress(url)))

/** The hosts of TIDINGS_READ_URL are always watched. Often the primary is one of them. */
function watchingForReads(readUrl: string | undefined, databaseUrl: string | undefined): number {
  if (readUrl === undefined || databaseUrl === undefined) return 0
  const primaries = readDatabaseAddress(databaseUrl).hosts.map(nameOf)
  return Number(readDatabaseAddress(readUrl).hosts.some(host => primaries.includes(nameOf(host))))
}

export const inWords = ({ api, engines }: ProcessCounts): string =>
  `${counted(api, 'HTTP process', 'HTTP processes')} and ${counted(engines, 'engine', 'engines')}`

const counted = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`
