import type { Cost } from './costs.ts'

/** What an operator decides beside the number of messages. */
export type Plan = {
  perDay: number
  /** The busiest second, beside the mean of the day. */
  peak: number
  /** The share of a core that is used in the busiest second. */
  load: number
  /** Cores of one database server. */
  coresOfServer: number
  /** Connections of each process. */
  connectionsOfProcess: number
  keepDays: number
}

export type Sizing = {
  perSecond: number
  apiProcesses: number
  engines: number
  databaseCores: number
  shards: number
  connections: number
  gigabytesPerDay: number
  terabytesKept: number
  walMegabytesPerSecond: number
  syncsPerSecond: number
}

const SECONDS_PER_DAY = 86_400

/** Customary values of hardware and PostgreSQL, not measured here. */
const DEFAULT_CONNECTIONS = 100
const MOST_CONNECTIONS = 1000
const WAL_MEGABYTES = 200
const SYNCS = 5000
const KEPT_TERABYTES = 10

/** An HTTP process and an engine use one core each, because Node.js has one thread. */
export function sizingOf(cost: Cost, plan: Plan): Sizing {
  const perSecond = peakOf(plan)
  const cores = (ms: number) => (perSecond * ms) / 1000 / plan.load
  const [apiProcesses, engines] = [atLeastOne(cores(cost.api)), atLeastOne(cores(cost.engine))]
  const databaseCores = atLeastOne(cores(cost.database))
  const gigabytesPerDay = (plan.perDay * (cost.rows + cost.indexes)) / 1e9
  const terabytesKept = (gigabytesPerDay * plan.keepDays) / 1000
  return {
    perSecond,
    apiProcesses,
    engines,
    databaseCores,
    shards: Math.max(atLeastOne(databaseCores / plan.coresOfServer), atLeastOne(terabytesKept / KEPT_TERABYTES)),
    connections: (apiProcesses + engines) * plan.connectionsOfProcess,
    gigabytesPerDay,
    terabytesKept,
    walMegabytesPerSecond: (perSecond * cost.wal) / 1e6,
    syncsPerSecond: perSecond * cost.syncs,
  }
}

const peakOf = ({ perDay, peak }: Plan) => (perDay / SECONDS_PER_DAY) * peak
const atLeastOne = (value: number) => Math.max(1, Math.ceil(value))

/** Something that is used up at some number of messages a day, and the setting that moves it. */
export type Limit = { what: string; perDay: number; setting: string }

/** Limits of one machine and one server, the lowest first. */
export function limitsOf(cost: Cost, plan: Plan): Limit[] {
  const perDayAt = (perSecond: number) => (perSecond / plan.peak) * SECONDS_PER_DAY
  const byCores = (ms: number, cores: number) => perDayAt((cores * plan.load * 1000) / ms)
  const onePair = sizingOf(cost, { ...plan, perDay: 1 }).connections
  const processesOfServer = Math.floor(MOST_CONNECTIONS / plan.connectionsOfProcess)
  const msOfProcesses = cost.api + cost.engine
  return [
    { what: 'one HTTP process', perDay: byCores(cost.api, 1), setting: '`serve --api N`, or more `tidings api`' },
    { what: 'one engine', perDay: byCores(cost.engine, 1), setting: '`serve --engines N`, or more `tidings engine`' },
    {
      what: `the default \`max_connections\` of PostgreSQL, ${DEFAULT_CONNECTIONS}`,
      perDay: byCores(msOfProcesses, (2 * DEFAULT_CONNECTIONS) / onePair),
      setting: '`max_connections`, `TIDINGS_DATABASE_CONNECTIONS`',
    },
    {
      what: `a database server with ${plan.coresOfServer} cores`,
      perDay: byCores(cost.database, plan.coresOfServer),
      setting: 'searches to replicas (`TIDINGS_READ_URL`), a larger server, then `migrate --distribute` (Citus)',
    },
    {
      what: `${MOST_CONNECTIONS} connections to one server`,
      perDay: byCores(msOfProcesses, processesOfServer),
      setting: 'PgBouncer (`TIDINGS_PREPARE=off`), `TIDINGS_DATABASE_CONNECTIONS`',
    },
    {
      what: `WAL of ${WAL_MEGABYTES} MB a second on one disk or to one standby`,
      perDay: perDayAt((WAL_MEGABYTES * 1e6) / cost.wal),
      setting: 'a disk for the WAL alone, `wal_compression`; more shards',
    },
    {
      what: `${SYNCS} synchronizations a second of one disk`,
      perDay: perDayAt(SYNCS / cost.syncs),
      setting: '`commit_delay`; more shards',
    },
    {
      what: `${KEPT_TERABYTES} TB on one server, with ${plan.keepDays} days of messages`,
      perDay: (KEPT_TERABYTES * 1e12) / plan.keepDays / (cost.rows + cost.indexes),
      setting: '`TIDINGS_KEEP_MONTHS`; more shards',
    },
  ].sort((a, b) => a.perDay - b.perDay)
}
