import { setTimeout as pause } from 'node:timers/promises'
import { memoryOf } from '../../bench/peers/processes.ts'
import { type Cleanups, withCleanups } from '../../bench/stage.ts'
import { verifyLedger } from '../../src/domain/audit/verify.ts'
import { verifyTraffic } from '../../src/domain/statistics/verify.ts'
import type { Options } from '../command-line.ts'
import { Installation } from '../installation/installation.ts'
import { Load } from '../installation/load.ts'
import type { Outcome } from '../outcomes.ts'
import { keepDispatching } from './dispatching.ts'
import { figuresOf, type Sample } from './judging.ts'
import { Viewers } from './viewers.ts'

const MINUTES = 30
const MINUTE_MS = 60_000
/** The gateway is slower than the engine, so that companies compete for it. */
const PARTS_PER_SECOND = 300
/** A timer that is due for longer is late. */
const LATE_SECONDS = 10

/** Mixed load for a long time, with a sample each minute. */
export function proveSoak({ minutes = MINUTES }: Options): Promise<Outcome[]> {
  return withCleanups(async cleanups => {
    const installation = await Installation.start(cleanups, { partsPerSecond: PARTS_PER_SECOND })
    const { sql, operator } = installation
    await operator.behave({ missingReceiptRate: 0.01, receiptMs: 2000 }) // these messages end by their deadline
    await startLoad(cleanups, installation)
    const samples: Sample[] = []
    while (samples.length < minutes) {
      await pause(MINUTE_MS)
      samples.push(await sampleOf(installation))
      console.log(lineOf(samples.length, samples.at(-1)!))
    }
    const ledgerDifferences = (await verifyLedger(sql)).length
    const statisticsDifferences = (await verifyTraffic(sql)).length
    return [{ name: 'soak', figures: figuresOf(samples, { ledgerDifferences, statisticsDifferences }) }]
  })
}

async function startLoad(cleanups: Cleanups, installation: Installation) {
  const load = new Load(installation, 1000, { ttl: 60 })
  await load.start()
  cleanups.push(() => load.stop())
  const dispatching = keepDispatching(installation, load)
  cleanups.push(() => dispatching.stop())
  const viewers = await Viewers.start(installation)
  cleanups.push(() => viewers.stop())
}

async function sampleOf(installation: Installation): Promise<Sample> {
  const { sql, companies } = installation
  const pids = [installation.parent, ...(await installation.apis()), ...(await installation.engines())]
  const [row] = await sql<Omit<Sample, 'memoryBytes' | 'sent'>[]>`
    select
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      (select sum(n_dead_tup)::float / greatest(sum(n_live_tup + n_dead_tup), 1) from pg_stat_user_tables) as dead_share,
      (select sum(pg_total_relation_size(t::regclass))::bigint
        from unnest(array['leases', 'message_timers', 'expiries', 'rate_buckets', 'receipt_inbox', 'receivers', 'accounts',
          'gateway_binds', 'gateway_states', 'engines']) t) as work_tables_bytes,
      (select count(*)::int from message_timers where due_at < now() - make_interval(secs => ${LATE_SECONDS}))
        + (select count(*)::int from expiries where due_at < now() - make_interval(secs => ${LATE_SECONDS}))
        + (select count(*)::int from deadlines where due_at < now() - make_interval(secs => ${LATE_SECONDS})) as late_deadlines`
  const counts = await sql<{ companyId: number; sent: number }[]>`
    select company_id, count(*)::int as sent from messages
    where dispatch_id is not null and sent_at > now() - interval '1 minute' group by company_id`
  const sentBy = (id: number) => counts.find(({ companyId }) => companyId === id)?.sent ?? 0
  return { ...row!, memoryBytes: await memoryOf(pids), sent: companies.map(({ companyId }) => sentBy(companyId)) }
}

function lineOf(minute: number, { memoryBytes, connections, deadShare, lateDeadlines, sent }: Sample): string {
  const memory = `${Math.round(memoryBytes / 1e6)} MB`
  const share = `${Math.round(deadShare * 100)} % dead rows`
  return `minute ${minute}: ${memory}, ${connections} connections, ${share}, ${lateDeadlines} late, sent ${sent.join(' and ')}`
}
