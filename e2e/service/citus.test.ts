import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCompany } from '../../src/db/by-company.ts'
import { acrossCompanies } from '../../src/db/reachable.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import * as callbacks from '../../src/domain/callbacks/store.ts'
import * as oldTexts from '../../src/domain/erasure/old-texts-store.ts'
import { overdueWaiting } from '../../src/domain/expiry/expiry.ts'
import { addGateway } from '../../src/domain/gateways/gateways.ts'
import { healthOf } from '../../src/domain/health/health.ts'
import { selectDueDeadlines } from '../../src/domain/lanes/deadlines.ts'
import { selectEndingLanes } from '../../src/domain/lanes/lane-ends.ts'
import {
  blockedLanes,
  companiesWithLeases,
  expiredLeasesOfClosedLanes,
  queuesWithWork,
} from '../../src/domain/lanes/lanes.ts'
import { selectDueFees } from '../../src/domain/ledger/fee-store.ts'
import { countExhausted } from '../../src/domain/ledger/store.ts'
import { uuidFloor } from '../../src/domain/messages/texts.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import * as senders from '../../src/domain/senders/store.ts'
import { selectStopRequests } from '../../src/domain/stop-requests/stop-requests.ts'
import * as templates from '../../src/domain/templates/store.ts'
import { selectDueTimers } from '../../src/domain/timers/store.ts'
import { type CitusCluster, citusProgram, startCitusCluster } from '../../src/testing/citus-cluster.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { answerOf, type Env, type Running, start, stop, useDataFolders } from '../../src/testing/processes.ts'
import * as factory from '../../src/testing/world.ts'

const SECRET = 'invented for the tests, 32 characters and more'
const aDataFolder = useDataFolders()

/** `npm run test:citus` sends 20,000 messages in each of 20 companies. */
const COMPANIES = 20
const MESSAGES = Number(process.env.TIDINGS_CITUS_MESSAGES ?? 500)
const PATIENCE_MS = 900_000
/** Enough messages for some seconds. Other work of the machine disturbs the rates. */
const RATE_MESSAGES = 2000
const LEAST_RATIO = 0.5

type Company = factory.World & { port: number }

/** Each test continues where the one before it ended, and the two engines are never started again. */
describe.skipIf(!citusProgram)('a Citus cluster with two workers (needs TIDINGS_CITUS)', () => {
  let cluster: CitusCluster
  let env: Env
  let engines: Running[]
  let sql: Pool
  let numbering: Numbering
  let companies: Company[]
  let created = 0

  beforeAll(async () => {
    cluster = await startCitusCluster(2)
    env = {
      TIDINGS_DATA: await aDataFolder(),
      TIDINGS_SECRET: SECRET,
      TIDINGS_LOG_LEVEL: 'fatal',
      DATABASE_URL: cluster.url,
    }
    await answerOf(['migrate'], env)
    await answerOf(['migrate', '--distribute', '--shards', '8'], env)
    sql = connect(cluster.url, { max: 10 })
    numbering = await loadNumbering(sql)
    const settings = { receiptMs: 0 }
    const gateway = { name: 'simulator', channelType: 'SMS', connector: 'simulator', brands: [], partsPerSecond: null }
    await addGateway(sql, { ...gateway, settings } as never)
    await logSubmissions(sql)
    companies = []
    while (companies.length < COMPANIES) companies.push(await aCompany())
    engines = [start(['engine', '--json'], env), start(['engine', '--json'], env)]
    for (const engine of engines) await eventually(() => expect(engine.stdout()).toContain('started'))
  }, 180_000)

  afterAll(async () => {
    await sql?.end({ timeout: 1 })
    await Promise.all((engines ?? []).map(stop))
    await cluster?.stop()
  }, 180_000)

  test(
    'sends a dispatch in each of 20 companies of two workers',
    async () => {
      expect(new Set(companies.map(({ port }) => port)).size).toBe(2)
      const dispatches = await startAll(companies)
      await untilDelivered(dispatches)
      await expectExact()
      expect(await nodesOf(sql)).toMatchObject({ level: 'ok', facts: { count: 2, away: 0 } })
    },
    PATIENCE_MS,
  )

  test(
    'goes on at full speed for the companies of the other worker while one is killed, and for its own when it is back',
    async () => {
      const ownPort = await cluster.portOf(1)
      const own = companies.filter(({ port }) => port === ownPort)
      const others = companies.filter(({ port }) => port !== ownPort)
      const [first, second] = [await createAll(others, RATE_MESSAGES), await createAll(others, RATE_MESSAGES)]
      const before = await rateOf(first)
      const ofOwn = await startAll(own)
      await eventually(async () => expect(await countDelivered(ofOwn)).toBeGreaterThan(0))
      await cluster.kill(1)
      const during = await rateOf(second)
      console.log(`others while a worker is away: ${(during / before).toFixed(2)} of ${before.toFixed()} messages/s`)

      await expectFee(others[0]!)
      expect(await nodesOf(sql)).toMatchObject({ level: 'bad', facts: { count: 2, away: 1 } })
      await expectReads()

      await cluster.revive(1)
      await untilDelivered(ofOwn)
      await expectExact()
      expect(during / before).toBeGreaterThan(LEAST_RATIO)
    },
    PATIENCE_MS,
  )

  /** Citus refuses none of the reads of all companies. */
  async function expectReads() {
    const lanes = companies.map(({ companyId }) => ({ companyId, laneId: 1 }))
    const reads = readsOfAllCompanies(sql, new Date(), lanes)
    const refused: string[] = []
    for (const [name, read] of Object.entries(reads))
      await acrossCompanies(sql, async () => read()).catch(error => refused.push(`${name}: ${error.message}`))
    expect(refused).toEqual([])
  }

  /** The fee of a paid name is charged. */
  async function expectFee({ companyId, senders }: Company) {
    await sql`update senders set fee = 10 where company_id = ${companyId} and sender_id = ${senders[0]!.senderId}`
    await eventually(async () => {
      const fees = await sql`select from ledger_entries where company_id = ${companyId} and kind = 'SENDER_FEE'`
      expect(fees).toHaveLength(1)
    })
  }

  /** Messages per second from the start of the dispatches until all are delivered. */
  async function rateOf(created: Created[]): Promise<number> {
    const begun = performance.now()
    for (const one of created) await factory.start(sql, one.company, one.dispatchId)
    await untilDelivered(created)
    return countOf(created) / ((performance.now() - begun) / 1000)
  }

  test(
    'moves companies to another worker while they send',
    async () => {
      const [from, to] = [await cluster.portOf(1), await cluster.portOf(2)]
      const moving = companies.filter(({ port }) => port === from)
      const dispatches = await startAll(moving)
      await eventually(async () => expect(await countDelivered(dispatches)).toBeGreaterThan(0))
      const shard = await shardOf(moving[0]!.companyId)
      await sql`select citus_move_shard_placement(${shard}, '127.0.0.1', ${from}, '127.0.0.1', ${to}, 'force_logical')`
      expect(await portOf(moving[0]!.companyId)).toBe(to)
      await untilDelivered(dispatches)
      await expectExact()
    },
    PATIENCE_MS,
  )

  test(
    'spreads companies to a worker that is added while they send',
    async () => {
      const added = await cluster.add()
      const dispatches = await startAll(companies)
      await sql`select rebalance_table_shards(shard_transfer_mode => 'force_logical')`
      const ports = await Promise.all(companies.map(({ companyId }) => portOf(companyId)))
      expect(ports).toContain(added)
      await untilDelivered(dispatches)
      await expectExact()
    },
    PATIENCE_MS,
  )

  async function aCompany(): Promise<Company> {
    const world = await factory.aWorld(sql)
    return { ...world, port: await portOf(world.companyId) }
  }

  const shardOf = async (companyId: number) => {
    const [row] = await sql<{ shard: number }[]>`
      select get_shard_id_for_distribution_column('companies', ${companyId}::bigint) as shard`
    return row!.shard
  }

  async function portOf(companyId: number): Promise<number> {
    const [row] = await sql<{ port: number }[]>`
      select nodeport as port from pg_dist_placement join pg_dist_node using (groupid)
      where shardid = ${await shardOf(companyId)}`
    return row!.port
  }

  type Created = { company: Company; companyId: number; dispatchId: number; messages: number }

  async function createAll(chosen: Company[], messages = MESSAGES): Promise<Created[]> {
    const all: Created[] = []
    for (const company of chosen) {
      const dispatchId = await factory.aDispatch(sql, numbering, company, factory.someRecipients(messages))
      created += messages
      all.push({ company, companyId: company.companyId, dispatchId, messages })
    }
    return all
  }

  async function startAll(chosen: Company[]): Promise<Created[]> {
    const all = await createAll(chosen)
    for (const { company, dispatchId } of all) await factory.start(sql, company, dispatchId)
    return all
  }

  const countOf = (dispatches: Created[]) => dispatches.reduce((sum, { messages }) => sum + messages, 0)

  async function countDelivered(dispatches: Created[]): Promise<number> {
    const counts = await Promise.all(
      dispatches.map(async ({ companyId, dispatchId }) => {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int as count from messages
          where company_id = ${companyId} and dispatch_id = ${dispatchId} and status = 'DELIVERED'`
        return row!.count
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async function untilDelivered(dispatches: Created[]) {
    for (const { companyId, dispatchId } of dispatches) {
      await eventually(async () => {
        const [row] = await sql`
          select status from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId}`
        expect(row).toEqual({ status: 'COMPLETED' })
      })
    }
    expect(await countDelivered(dispatches)).toBe(countOf(dispatches))
  }

  /** Each message was submitted once, and the books agree with the messages. */
  async function expectExact() {
    const [log] = await sql`
      select count(*)::int as submitted, count(distinct message_uuid)::int as messages from submitted_messages`
    expect(log).toEqual({ submitted: created, messages: created })
    expect(await answerOf(['ledger', 'verify'], env)).toEqual([])
    expect(engines.map(({ child }) => child.exitCode)).toEqual([null, null])
  }
})

const AT_ONCE = 10

/** The statements that are limited to the reachable companies. */
const readsOfAllCompanies = (sql: Pool, now: Date, someLanes: { companyId: number; laneId: number }[]) => ({
  companies: () => everyCompany(sql, async () => {}),
  'old texts': () => oldTexts.selectBehind(sql, uuidFloor(now), AT_ONCE),
  'left texts': () => oldTexts.selectLeftovers(sql, now, AT_ONCE),
  'waiting messages': () => overdueWaiting(sql, now, AT_ONCE),
  timers: () => selectDueTimers(sql, now, AT_ONCE),
  deadlines: () => selectDueDeadlines(sql, now, AT_ONCE),
  'ends of lanes': () => selectEndingLanes(sql, now, AT_ONCE),
  queues: () => queuesWithWork(sql, 1, now),
  'companies with leases': () => companiesWithLeases(sql, now),
  'blocked lanes': () => blockedLanes(sql, someLanes),
  'leases of closed lanes': () => expiredLeasesOfClosedLanes(sql, AT_ONCE),
  'reviews of names': () => senders.selectDue(sql, { statuses: [...REVIEWED], now, limit: AT_ONCE }, []),
  'reviews of templates': () => templates.selectDue(sql, { statuses: [...REVIEWED], now, limit: AT_ONCE }),
  'stop requests': () => selectStopRequests(sql, { companyId: 0, uuid: uuidFloor(now) }, AT_ONCE),
  'waiting callbacks': () => callbacks.selectWaitingBatches(sql, now, AT_ONCE),
  receivers: () => callbacks.selectFirstReceivers(sql, now),
  'ended callbacks': () => callbacks.selectEndedCallbacks(sql, now, AT_ONCE),
  'tests of callbacks': () => callbacks.selectWaitingTests(sql, now, AT_ONCE),
  fees: () => selectDueFees(sql, '2026-01-01', 'Europe/Moscow', AT_ONCE),
  'companies without money': () => countExhausted(sql, '2026-01-01'),
})

const REVIEWED = ['PRE_REVIEW', 'INTERNAL_REVIEW', 'AWAITING'] as const

/** The check of the health page. */
async function nodesOf(sql: Pool) {
  const { checks } = await healthOf({ sql, now: new Date(), dataFolder: undefined })
  return checks.find(({ name }) => name === 'nodes')
}

/** Engines keep only the newest messages of the simulated operators. This table keeps all of them. */
async function logSubmissions(sql: Pool) {
  await sql`create table submitted_messages (message_uuid uuid not null)`
  await sql`
    create function log_submissions() returns trigger language plpgsql as
    'begin insert into submitted_messages select (m ->> ''uuid'')::uuid from added a, json_array_elements(a.messages::json) m;
    return null; end'`
  await sql`
    create trigger log_submissions after insert on simulator_batches
    referencing new table as added for each statement execute function log_submissions()`
}
