import { distribute } from '../src/db/sharding/distribute.ts'
import type { Pool } from '../src/db/sql.ts'
import { citusProgram, makePlainDatabase, startCitusCluster } from '../src/testing/citus-cluster.ts'
import { aCompany } from '../src/testing/factories.ts'
import type { Connection } from './client.ts'
import { jsonOf } from './client.ts'
import { createRequest, startRequest, startSending, untilCompleted } from './engine.ts'
import { type Figure, median, type Options } from './figures.ts'
import { REQUEST_SIZE } from './recipients.ts'
import { type Cleanups, type Stage, sendersOf, stageOn, withCleanups } from './stage.ts'

export const name = 'citus'
export const about = 'dispatches of six companies on plain PostgreSQL, on Citus with one node, and with two workers'

const COMPANIES = 6
const SHARDS = 16
const ROUNDS = 3

/** One service and one engine for each kind of database, all on this machine. Only one of them works at a time. */
export function run({ rounds = ROUNDS }: Options): Promise<Figure[]> {
  if (!citusProgram) throw new Error('Set TIDINGS_CITUS to a program that makes a cluster (see scripts/test-citus.sh).')
  return withCleanups(async cleanups => {
    const kinds = await openKinds(cleanups)
    const measured: Record<Kind, number>[] = []
    for (let i = 0; i <= rounds; i++) measured.push(await inTurn(kinds))
    return figuresOf(measured.slice(1)) // the first round warms up
  })
}

type Kind = 'plain' | 'oneNode' | 'twoWorkers'
type Sending = { stages: Stage[]; connection: Connection }

async function openKinds(cleanups: Cleanups): Promise<Record<Kind, Sending>> {
  const single = await startCitusCluster(0)
  cleanups.push(single.stop)
  const cluster = await startCitusCluster(2)
  cleanups.push(cluster.stop)
  const toTables = (sql: Pool) => distribute(sql, { shards: SHARDS })
  return {
    plain: await openSending(await stageOn(await makePlainDatabase(single, 'plain'), cleanups)),
    oneNode: await openSending(
      await stageOn(single.url, cleanups, async sql => {
        await sql`select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true) from pg_dist_node`
        await toTables(sql)
      }),
    ),
    twoWorkers: await openSending(await stageOn(cluster.url, cleanups, toTables)),
  }
}

async function openSending(stage: Stage): Promise<Sending> {
  const stages = [stage]
  while (stages.length < COMPANIES) {
    const companyId = await aCompany(stage.sql, stage.partner)
    stages.push({ ...stage, companyId, senderIds: await sendersOf(stage.sql, companyId) })
  }
  return { stages, connection: await startSending(stage) }
}

async function inTurn(kinds: Record<Kind, Sending>): Promise<Record<Kind, number>> {
  return {
    plain: await messagesPerSecond(kinds.plain),
    oneNode: await messagesPerSecond(kinds.oneNode),
    twoWorkers: await messagesPerSecond(kinds.twoWorkers),
  }
}

/** From the first request that creates a dispatch until all are COMPLETED. */
async function messagesPerSecond({ stages, connection }: Sending): Promise<number> {
  const begun = performance.now()
  const created: { stage: Stage; id: number }[] = []
  for (const stage of stages) {
    const { id } = jsonOf(await connection.ask(createRequest(stage)))
    await connection.ask(startRequest(stage, id))
    created.push({ stage, id })
  }
  for (const { stage, id } of created) await untilCompleted(stage, [id])
  return (created.length * REQUEST_SIZE * 1000) / (performance.now() - begun)
}

function figuresOf(rounds: Record<Kind, number>[]): Figure[] {
  const speed = (kind: Kind) => median(rounds.map(round => round[kind]))
  const ratio = (kind: Kind) => median(rounds.map(round => round[kind] / round.plain))
  return [
    { what: 'plain PostgreSQL', value: speed('plain'), unit: 'messages/s' },
    { what: 'Citus, one node', value: speed('oneNode'), unit: 'messages/s' },
    { what: 'Citus, two workers', value: speed('twoWorkers'), unit: 'messages/s' },
    { what: 'one node, to plain', value: ratio('oneNode'), unit: '' },
    { what: 'two workers, to plain', value: ratio('twoWorkers'), unit: '', target: { least: 0.5 } },
  ]
}
