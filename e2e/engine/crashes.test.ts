import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import { openEmbeddedServer } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { connect } from '../../src/db/sql.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, expectPaid, handedOver, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine, anEngineProcess, stopEngine } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

/**
 * Most messages that are submitted but not recorded: a slice of each of three chunks, and the reports in the recorder.
 */
const WINDOW = 3 * 1000 + 6000

/**
 * A lease ends after eight seconds, and another engine takes it in one of its next turns. The test counts the reports of
 * that engine, one a second, and not seconds: on a busy machine turns and reports both take longer. Reports while the
 * engine has as many chunks as it sends at a time do not count: the two engines leave up to six leases, and the last ones
 * wait until a chunk is sent and recorded.
 */
const MOST_REPORTS = 4
const CHUNKS_AT_A_TIME = 3

test('the leases of a killed and a frozen engine end after eight seconds and are then taken over at once, and the frozen engine neither loses nor charges messages when it wakes up', async () => {
  const world = await aWorld(db.sql)
  await aGateway(db.sql, { settings: { submitMs: 400 } })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(12_000))
  const [killed, frozen] = await Promise.all([anEngineProcess(), anEngineProcess()])
  await start(db.sql, world, dispatchId)
  const gone = [killed.worker, frozen.worker]
  await eventually(async () => {
    const rows = await db.sql`select distinct worker from leases where worker = any(${gone}::uuid[])`
    expect(rows).toHaveLength(2)
  })
  frozen.kill('SIGSTOP')
  killed.kill('SIGKILL')
  const held = await db.sql<{ token: string; isShort: boolean }[]>`
    select token, claimed_until <= clock_timestamp() + interval '8 seconds' as is_short
    from leases where worker = any(${gone}::uuid[])`
  expect(held.every(({ isShort }) => isShort)).toBe(true)

  await anEngine()
  expect(await reportsUntilTaken(held.map(({ token }) => token))).toBeLessThanOrEqual(MOST_REPORTS)
  frozen.kill('SIGCONT')

  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ total: 12_000, delivered: 12_000 })
  await pause(500) // time for the woken engine to do damage
  const handed = await handedOver(db.sql, dispatchId)
  expect(handed.messages).toBe(12_000)
  expect(handed.times - handed.messages).toBeLessThanOrEqual(2 * WINDOW)
  await expectPaid(db.sql, world, priceEstimate)
  await eventually(async () => {
    const [engine] =
      await db.sql`select from engines where worker = ${frozen.worker} and seen_at > now() - interval '3 s'`
    expect(engine).toBeDefined()
  })
})

/** How many reports of the running engine the test sees between the end of these leases and their takeover. */
async function reportsUntilTaken(tokens: string[]): Promise<number> {
  const reports = new Set<string>()
  await eventually(async () => {
    const rows = await db.sql<{ isEnded: boolean; report: string; chunks: number }[]>`
      select claimed_until < clock_timestamp() as is_ended, (select max(seen_at)::text from engines) as report,
        (select count(*)::int from leases where token <> all(${tokens}::uuid[]) and worker is not null) as chunks
      from leases where token = any(${tokens}::uuid[])`
    for (const { isEnded, report, chunks } of rows) if (isEnded && chunks < CHUNKS_AT_A_TIME) reports.add(report)
    expect(rows).toHaveLength(0)
  })
  return reports.size
}

test('an engine whose database connections are closed again and again keeps running and loses no message', async () => {
  const world = await aWorld(db.sql)
  await aGateway(db.sql, { settings: { ownIds: true } })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(20_000))
  const engine = await anEngineProcess()
  await start(db.sql, world, dispatchId)
  let [rounds, cut] = [0, 0]
  // On a busy machine a new connection takes longer than a round.
  for (; (rounds < 20 || cut <= 20) && engine.exitCode === null; rounds++) {
    await pause(Math.random() * 120)
    const [row] = await db.sql<{ n: number }[]>`
      select count(pg_terminate_backend(pid)) as n from pg_stat_activity
      where datname = current_database() and application_name = 'tidings engine'`
    cut += row!.n
  }
  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(cut).toBeGreaterThan(20)
  expect(messages).toMatchObject({ total: 20_000, delivered: 20_000 })
  const handed = await handedOver(db.sql, dispatchId)
  expect(handed.messages).toBe(20_000)
  expect(handed.times - handed.messages).toBeLessThanOrEqual(rounds * 500)
  expect(engine.exitCode).toBeNull()
  await expectPaid(db.sql, world, priceEstimate)
})

const postmasterOf = async (dataDir: string) =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

test('an engine survives a killed database, and stops while the database is away', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-crash-'))
  const server = await openEmbeddedServer({ dataDir })
  const sql = connect(server.url, { max: 3 })
  const operator = await startSmsc({ receiptMs: 200 })
  const submitted = () => operator.counts.accepted
  try {
    await migrate(sql)
    const world = await aWorld(sql)
    const settings = { host: '127.0.0.1', port: operator.port, systemId: 'tidings' }
    await aGateway(sql, { connector: 'smpp', partsPerSecond: 1500, settings })
    const dispatchId = await aDispatch(sql, numbering, world, someRecipients(4000))
    const engine = await anEngineProcess(server.url)
    await start(sql, world, dispatchId)
    for (const signal of ['SIGKILL', 'SIGQUIT'] as const) {
      const before = submitted()
      await eventually(() => expect(submitted() - before).toBeGreaterThan(100))
      const pid = await postmasterOf(dataDir)
      process.kill(pid, signal)
      await eventually(async () => {
        expect([pid, 0]).not.toContain(await postmasterOf(dataDir))
        await sql`select`
      })
    }
    const { messages, priceEstimate } = await completed(sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 4000, delivered: 4000 })
    expect(operator.taken.size).toBe(4000)
    expect(submitted() - 4000).toBeLessThanOrEqual(2 * 1500)
    expect(engine.exitCode).toBeNull()
    await expectPaid(sql, world, priceEstimate)

    // The engine can stop also without a database.
    const another = await aDispatch(sql, numbering, world, someRecipients(4000))
    await start(sql, world, another)
    const before = submitted()
    await eventually(() => expect(submitted() - before).toBeGreaterThan(100))
    await sql.end({ timeout: 0 })
    await server.release()
    engine.kill('SIGTERM')
    await eventually(() => expect(engine.exitCode).toBe(0))
  } finally {
    await sql.end({ timeout: 0 })
    await server.release()
    await operator.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('messages to simulated operators are delivered and charged although their database is killed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-crash-'))
  const server = await openEmbeddedServer({ dataDir })
  const sql = connect(server.url, { max: 3 })
  try {
    await migrate(sql)
    const world = await aWorld(sql)
    await aGateway(sql, { partsPerSecond: 500, settings: { receiptMs: 200 } })
    const dispatchId = await aDispatch(sql, numbering, world, someRecipients(1500))
    const engine = await anEngineProcess(server.url)
    await start(sql, world, dispatchId)
    await eventually(async () => expect((await handedOver(sql, dispatchId)).messages).toBeGreaterThan(100))
    process.kill(await postmasterOf(dataDir), 'SIGQUIT')
    const { messages, priceEstimate } = await completed(sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 1500, delivered: 1500 })
    await expectPaid(sql, world, priceEstimate)
    engine.kill('SIGTERM')
    await eventually(() => expect(engine.exitCode).toBe(0))
  } finally {
    await sql.end({ timeout: 0 })
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('an engine that is stopped thirty times during a dispatch never hangs, and every message is sent exactly once', async () => {
  const world = await aWorld(db.sql)
  const { gatewayId } = await aGateway(db.sql, { partsPerSecond: 1200, settings: { submitMs: 10 } })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8000))
  await start(db.sql, world, dispatchId)
  for (let round = 0; round < 30; round++) {
    const engine = await anEngine()
    await pause(Math.random() * 150)
    await stopEngine(engine)
  }
  expect(await db.sql`select from leases where worker is not null`).toHaveLength(0)
  await db.sql`update gateways set parts_per_second = null where gateway_id = ${gatewayId}`
  await anEngine()
  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ total: 8000, delivered: 8000 })
  expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 8000, messages: 8000 })
  await expectPaid(db.sql, world, priceEstimate)
})

test('a service that is told to stop ends and removes itself from the list of engines', async () => {
  const engine = await anEngineProcess()
  await eventually(async () =>
    expect(await db.sql`select from engines where worker = ${engine.worker}`).toHaveLength(1),
  )
  engine.kill('SIGTERM')
  await once(engine, 'exit')
  expect(engine.exitCode).toBe(0)
  expect(await db.sql`select from engines where worker = ${engine.worker}`).toHaveLength(0)
})
