import { distribute } from '../src/db/sharding/distribute.ts'
import type { Pool } from '../src/db/sql.ts'
import { citusProgram, makePlainDatabase, startCitusCluster } from '../src/testing/citus-cluster.ts'
import { aCompany } from '../src/testing/factories.ts'
import { type Connection, jsonOf, openConnection } from './client.ts'
import { addSimulator, createRequest, startRequest, untilCompleted } from './engine.ts'
import { type Figure, median, type Options } from './figures.ts'
import { REQUEST_SIZE } from './recipients.ts'
import { type Cleanups, type Stage, sendersOf, stageOn, withCleanups } from './stage.ts'

export const name = 'citus'
export const about = 'dispatches of six companies on plain PostgreSQL, on Citus with one node, and with two workers'

const COMPANIES = 6
const SHARDS = 16
const ROUNDS = 3

export function run({ rounds = ROUNDS }: Options): Promise<Figure[]> {
  if (!citusProgram) throw new Error('Set TIDINGS_CITUS to a program that makes a cluster (see scripts/test-citus.sh).')
  return withCleanups(async cleanups => {
    const kinds = await openKinds(cleanups)
    const measured: Record<Kind, number>[] = []
    for (let i = 0; i < rounds; i++) measured.push(await inTurn(kinds))
    return figuresOf(measured)
  })
}

type Kind = 'plain' | 'oneNode' | 'twoWorkers'

/** The companies of each kind of database, all servers on this machine. */
async function openKinds(cleanups: Cleanups): Promise<Record<Kind, Stage[]>> {
  const single = await startCitusCluster(0)
  cleanups.push(single.stop)
  const cluster = await startCitusCluster(2)
  cleanups.push(cluster.stop)
  const toWorkers = (sql: Pool) => distribute(sql, { shards: SHARDS })
  const toCoordinator = async (sql: Pool) => {
    await sql`select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true) from pg_dist_node`
    await toWorkers(sql)
  }
  return {
    plain: await withCompanies(await stageOn(await makePlainDatabase(single, 'plain'), cleanups)),
    oneNode: await withCompanies(await stageOn(single.url, cleanups, toCoordinator)),
    twoWorkers: await withCompanies(await stageOn(cluster.url, cleanups, toWorkers)),
  }
}

async function withCompanies(stage: Stage): Promise<Stage[]> {
  await addSimulator(stage)
  const stages = [stage]
  while (stages.length < COMPANIES) {
    const companyId = await aCompany(stage.sql, stage.partner)
    stages.push({ ...stage, companyId, senderIds: await sendersOf(stage.sql, companyId) })
  }
  await stage.sql`update senders set status = 'APPROVED'`
  return stages
}

async function inTurn(kinds: Record<Kind, Stage[]>): Promise<Record<Kind, number>> {
  return {
    plain: await messagesPerSecond(kinds.plain),
    oneNode: await messagesPerSecond(kinds.oneNode),
    twoWorkers: await messagesPerSecond(kinds.twoWorkers),
  }
}

/** The service and the engine run only while their database is measured. The first dispatches warm them up. */
async function messagesPerSecond(stages: Stage[]): Promise<number> {
  const [first] = stages
  const [service, engine] = [await first!.startService(), await first!.startEngine()]
  const connection = await openConnection(service.port)
  await sendAll(stages.slice(0, 2), connection)
  const begun = performance.now()
  await sendAll(stages, connection)
  const took = performance.now() - begun
  connection.close()
  await Promise.all([service.stop(), engine.stop()])
  return (stages.length * REQUEST_SIZE * 1000) / took
}

/** From the first request that creates a dispatch until all are COMPLETED. */
async function sendAll(stages: Stage[], connection: Connection) {
  const created: { stage: Stage; id: number }[] = []
  for (const stage of stages) {
    const { id } = jsonOf(await connection.ask(createRequest(stage)))
    await connection.ask(startRequest(stage, id))
    created.push({ stage, id })
  }
  for (const { stage, id } of created) await untilCompleted(stage, [id])
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
