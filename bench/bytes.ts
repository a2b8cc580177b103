import type { Pool } from '../src/db/sql.ts'
import type { Figure, Options } from './figures.ts'
import { dispatchRound } from './peers/dispatches.ts'
import { type Round, singlesRound } from './peers/measuring.ts'
import { startTidings, type Tidings } from './peers/tidings.ts'

export const name = 'bytes'
export const about =
  'the cost of one message by part: processor time, bytes of rows, indexes and WAL, transactions, synchronizations'

const DISPATCH = 20_000
const CONNECTIONS = 64
const WARM_UP_SECONDS = 3
const SECONDS = 6

/**
 * Through the real service, its embedded PostgreSQL and the SMSC over SMPP, to delivered and settled. The figures are the input of
 * `npm run simulate`.
 */
export async function run({ dispatch = DISPATCH }: Options): Promise<Figure[]> {
  const tidings = await startTidings()
  try {
    await singlesRound(tidings, CONNECTIONS, WARM_UP_SECONDS)
    const singles = await measured(tidings, () => singlesRound(tidings, CONNECTIONS, SECONDS))
    await dispatchRound(tidings, tidings.company, dispatch)
    const bulk = await measured(tidings, () => dispatchRound(tidings, tidings.company, dispatch))
    return [...figuresOf('singles', singles), ...figuresOf('dispatch', bulk), await connectionsOf(tidings)]
  } finally {
    await tidings.stop()
  }
}

type Written = { rows: number; indexes: number; wal: number; syncs: number }
type Measured = { round: Round; written: Written }

/**
 * The messages before were updated, too. VACUUM makes the places of their former rows free, as autovacuum does in a running service, and a
 * checkpoint begins each round alike.
 */
async function measured(tidings: Tidings, work: () => Promise<Round>): Promise<Measured> {
  await tidings.sql`vacuum`
  await tidings.sql`checkpoint`
  const before = await readWritten(tidings.sql)
  const round = await work()
  const after = await readWritten(tidings.sql)
  const grown = (key: keyof Written) => (after[key] - before[key]) / round.delivered
  return {
    round,
    written: { rows: grown('rows'), indexes: grown('indexes'), wal: grown('wal'), syncs: grown('syncs') },
  }
}

async function readWritten(sql: Pool): Promise<Written> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<Written[]>`
    select sum(pg_table_size(c.oid))::float8 as rows, sum(pg_indexes_size(c.oid))::float8 as indexes,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
      (select sum(fsyncs)::float8 from pg_stat_io where object = 'wal') as syncs
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname = 'public'`
  return row!
}

function figuresOf(kind: string, { round, written }: Measured): Figure[] {
  const { API = 0, engine = 0, database = 0 } = round.millisecondsByPart
  const figure = (key: string, what: string, value: number, unit: string) => ({
    id: `${kind}.${key}`,
    what: `${kind}: ${what}`,
    value,
    unit,
  })
  return [
    figure('api', 'processor time of the API', API, 'ms a message'),
    figure('engine', 'processor time of the engine', engine, 'ms a message'),
    figure('database', 'processor time of the database', database, 'ms a message'),
    figure('rows', 'rows', written.rows, 'bytes a message'),
    figure('indexes', 'indexes', written.indexes, 'bytes a message'),
    figure('wal', 'WAL', written.wal, 'bytes a message'),
    figure('commits', 'transactions', round.commits ?? Number.NaN, 'a message'),
    figure('syncs', 'synchronizations of the WAL', written.syncs, 'a message'),
  ]
}

async function connectionsOf({ sql }: Tidings): Promise<Figure> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name <> 'tidings bench'`
  const what = 'connections of one HTTP process and one engine, after the load'
  return { id: 'connections', what, value: row!.count, unit: '' }
}
