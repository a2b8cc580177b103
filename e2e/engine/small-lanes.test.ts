import { afterEach, expect, test } from 'vitest'
import { errorCodes } from '../../src/base/error-codes.ts'
import { connect } from '../../src/db/sql.ts'
import { addToBlacklist, eraseEntry } from '../../src/domain/blacklist/blacklist.ts'
import { useErasureSecret } from '../../src/domain/blacklist/erased.ts'
import { companiesWithLeases, finishLeases, renewLeases, takeChunks } from '../../src/domain/lanes/lanes.ts'
import { takeWithMessages } from '../../src/domain/leases/leases.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { requestStops } from '../../src/domain/stop-requests/stop-requests.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSingle } from '../../src/testing/factories.ts'
import { runnableLanes } from '../../src/testing/lanes.ts'
import { skipOnCluster } from '../../src/testing/one-server.ts'
import { anOperator, schedulerWith } from '../../src/testing/schedulers.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../src/testing/world.ts'

/** Lanes with few messages each, which share their statements. */
const db = useDatabase()
const clock = () => new Date()
const closings: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closings.splice(0)) await close()
  await db.sql`update lanes set open = false`
})

/** A company with messages in a lane for each brand. */
async function aCompanyWithSingles(messagesPerLane: number) {
  const { companyId, senders } = await aWorld(db.sql)
  const singles = senders.flatMap((sender, i) =>
    Array.from({ length: messagesPerLane }, () =>
      aSingle(sender, { brandId: i + 1, priority: 3, trafficType: 'PROMO' }),
    ),
  )
  await acceptSingles(db.sql, companyId, singles, { billingZone, now: clock() })
  return companyId
}

/** A scheduler on connections of its own, whose statements are noted. The recorder has other connections. */
function aScheduler() {
  const statements: string[] = []
  const sql = connect(db.url, { max: 4 })
  Object.assign(sql.options, { debug: (_: number, text: string) => statements.push(text) })
  const { gateway, submitted } = anOperator()
  // A message of this very millisecond is not ready in the first turn, and no notification follows.
  const scheduler = schedulerWith(sql, db.sql, gateway, 50)
  closings.push(
    () => scheduler.stop(),
    () => sql.end({ timeout: 1 }),
  )
  return { statements, submitted }
}

const leases = () => db.sql`select from leases`

/** Each message once, and all with one statement of each kind. */
async function expectSentTogether(messages: number) {
  const { statements, submitted } = aScheduler()
  await eventually(async () => expect(submitted).toHaveLength(messages))
  await eventually(async () => expect(await leases()).toEqual([]))
  expect(new Set(submitted.map(({ uuid }) => uuid)).size).toBe(messages)
  const count = (about: RegExp) => statements.filter(text => about.test(text)).length
  expect({
    leased: count(/lease_with_messages/),
    read: count(/from messages/),
    checked: count(/from (stop_requests|blacklist)/),
    ended: count(/finish_leases/),
  }).toEqual({ leased: 1, read: 0, checked: 0, ended: 1 })
}

test('small lanes of a company are sent with one statement of each kind, each message once', async () => {
  await aCompanyWithSingles(3)
  await expectSentTogether(12)
})

test('small lanes of several dispatches are sent with one statement of each kind, each message once', async () => {
  const world = await aWorld(db.sql)
  const numbering = await loadNumbering(db.sql)
  for (let i = 0; i < 3; i++)
    await start(db.sql, world, await aDispatch(db.sql, numbering, world, someRecipients(4 * 2)))
  await expectSentTogether(24)
})

test('together they have no more messages than a slow gateway takes within a second', async () => {
  await aCompanyWithSingles(3)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { gateway, submitted } = anOperator(() => answered, 3)
  const scheduler = schedulerWith(db.sql, db.sql, gateway, 50)
  closings.push(() => scheduler.stop())
  await eventually(async () => expect(gateway.busy).toBe(3))
  expect(await leases()).toHaveLength(3)
  answer()
  await eventually(async () => expect(submitted).toHaveLength(12))
})

test('a message that is no longer waiting is not sent with its lane', async () => {
  const companyId = await aCompanyWithSingles(3)
  await db.sql`update messages set status = 'FAILED', final_at = now() where company_id = ${companyId} and seq = 1`
  const { submitted } = aScheduler()
  await eventually(async () => expect(await leases()).toEqual([]))
  await eventually(async () => expect(submitted).toHaveLength(8))
})

test('a lease of single messages comes with its messages in their order', async () => {
  const companyId = await aCompanyWithSingles(5)
  const lanes = await runnableLanes(db.sql, clock())
  const chunks = lanes.map(lane => ({ lane, size: 4 }))
  const taken = await takeWithMessages(db.sql, companyId, chunks, crypto.randomUUID())
  expect(taken.map(lease => lease?.queued?.map(({ seq }) => seq))).toEqual(lanes.map(() => [0, 1, 2, 3]))
})

test('a message that is read with its lease is not sent if its number is on the blacklist or if it was stopped', async () => {
  const companyId = await aCompanyWithSingles(3)
  const [unwanted, stopped] = await db.sql<{ uuid: string; destination: string }[]>`
    select message_uuid as uuid, destination from messages where company_id = ${companyId} order by lane_id, seq limit 2`
  const { count } = await db.sql`
    update messages set destination = '79169990001' where message_uuid = ${unwanted!.uuid} and company_id = ${companyId}`
  expect(count).toBe(1)
  await addToBlacklist(db.sql, companyId, '79169990001', undefined)
  await requestStops(db.sql, companyId, [stopped!.uuid])
  const { statements, submitted } = aScheduler()
  await eventually(() => expect(submitted).toHaveLength(10))
  await eventually(async () =>
    expect(await failedOf(companyId)).toEqual(
      new Map([
        [unwanted!.uuid, errorCodes.blacklisted],
        [stopped!.uuid, errorCodes.stopped],
      ]),
    ),
  )
  expect(statements.filter(text => /from (stop_requests|blacklist)/.test(text))).toEqual([])
})

async function failedOf(companyId: number): Promise<Map<string, number>> {
  const failed = await db.sql<{ uuid: string; errorCode: number }[]>`
    select message_uuid as uuid, error_code from messages where company_id = ${companyId} and status = 'FAILED'`
  return new Map(failed.map(({ uuid, errorCode }) => [uuid, errorCode]))
}

test('an erased number on the blacklist is not written to, although the database alone cannot tell', async () => {
  useErasureSecret('secret of this test')
  const companyId = await aCompanyWithSingles(1)
  const number = '79169990002'
  await db.sql`update messages set destination = ${number} where company_id = ${companyId}`
  await addToBlacklist(db.sql, companyId, number, undefined)
  await db.sql.begin(tx => eraseEntry(tx, companyId, number))
  const { submitted } = aScheduler()
  await eventually(async () =>
    expect([...(await failedOf(companyId)).values()]).toEqual(Array.from({ length: 4 }, () => errorCodes.blacklisted)),
  )
  expect(submitted).toEqual([])
})

test('many messages of small lanes are read after their leases are committed, and none is lost', async () => {
  await aCompanyWithSingles(120)
  const { statements, submitted } = aScheduler()
  await eventually(() => expect(submitted).toHaveLength(480))
  expect(new Set(submitted.map(({ uuid }) => uuid)).size).toBe(480)
  expect(statements.some(text => /lease_chunks/.test(text))).toBe(true)
})

test('when messages cannot be read with their leases, the leases are taken without them', async () => {
  const companyId = await aCompanyWithSingles(2)
  const lanes = await runnableLanes(db.sql, clock())
  const chunks = lanes.map(lane => ({ lane, size: 100 }))
  await db.sql`alter function lease_with_messages rename to hidden_for_a_test`
  try {
    const taken = await takeWithMessages(db.sql, companyId, chunks, crypto.randomUUID())
    expect(taken.map(lease => [lease?.laneId, lease?.queued])).toEqual(lanes.map(({ laneId }) => [laneId, undefined]))
  } finally {
    await db.sql`alter function hidden_for_a_test rename to lease_with_messages`
  }
})

test('both ways of reading messages with their leases tell the same', async () => {
  const companyId = await aCompanyWithSingles(5)
  const [lane] = await runnableLanes(db.sql, clock())
  const take = (size: number) => takeWithMessages(db.sql, companyId, [{ lane: lane!, size }], crypto.randomUUID())
  const [few] = await take(5)
  await db.sql`update lanes set cursor = 0 where company_id = ${companyId} and lane_id = ${lane!.laneId}`
  const [many] = await take(1000)
  const fields = [few, many].map(lease => lease!.queued!.map(({ uuid, seq, text, parts }) => [uuid, seq, text, parts]))
  expect(fields[0]).toEqual(fields[1])
  const names = Object.keys(few!.queued![0]!)
  expect(names).toEqual(expect.arrayContaining(Object.keys(many!.queued![0]!)))
})

test.each(['force_custom_plan', 'force_generic_plan'])(
  'a long blacklist is not read for a few messages (%s)',
  async mode => {
    const companyId = await aCompanyWithSingles(5)
    await db.sql`
    insert into blacklist (company_id, destination)
    select ${companyId}, (79160000000 + n)::text from generate_series(1, 5000) n`
    const lanes = await runnableLanes(db.sql, clock())
    const chunks = lanes.map(lane => ({ lane, size: 10 }))
    skipOnCluster('the workers of a cluster make the plans')
    const sql = connect(db.url, { max: 1 }) // the counts of a session include its last transactions
    const read = await sql.begin(async tx => {
      await tx`select set_config('plan_cache_mode', ${mode}, true)`
      expect(await takeWithMessages(tx, companyId, chunks, crypto.randomUUID())).toHaveLength(4)
      return tx<{ rows: number }[]>`
      select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables where relname in ('blacklist', 'stop_requests')`
    })
    await sql.end()
    expect(read.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(20)
  },
)

test('lanes of two companies are not mixed', async () => {
  const companies = [await aCompanyWithSingles(2), await aCompanyWithSingles(2)]
  const { submitted } = aScheduler()
  await eventually(async () => expect(submitted).toHaveLength(16))
  for (const companyId of companies) expect(submitted.filter(one => one.companyId === companyId)).toHaveLength(8)
})

test('a lease is taken for each lane, and a lane is refused that is named twice', async () => {
  await aCompanyWithSingles(5)
  const lanes = await runnableLanes(db.sql, clock())
  const companyId = lanes[0]!.companyId
  const chunks = lanes.map(lane => ({ lane, size: 2 }))
  const taken = await takeChunks(db.sql, companyId, chunks, crypto.randomUUID())
  expect(taken.map(lease => [lease?.laneId, lease?.firstSeq, lease?.nextSeq])).toEqual(
    lanes.map(({ laneId }) => [laneId, 0, 2]),
  )
  const twice = [chunks[0]!, chunks[0]!]
  await expect(takeChunks(db.sql, companyId, twice, crypto.randomUUID())).rejects.toThrow(/twice/)
})

test.each(['renewing', 'ending'])(
  '%s leases locks them in their order, so that no two statements wait for each other',
  async work => {
    const companyId = await aCompanyWithSingles(1)
    const lanes = await runnableLanes(db.sql, clock())
    const worker = crypto.randomUUID()
    const taken = await takeChunks(
      db.sql,
      companyId,
      lanes.map(lane => ({ lane, size: 1 })),
      worker,
    )
    const leases = taken.flatMap(lease => lease ?? []).toSorted((a, b) => b.leaseId - a.leaseId)
    const [last, first] = [leases[0], leases.at(-1)]
    // Writes the first lease behind the others in the table. A statement without an order would lock it last.
    await db.sql`update leases set attempts = attempts where company_id = ${companyId} and lease_id = ${first!.leaseId}`
    let running: Promise<unknown> = Promise.resolve()
    await db.sql.begin(async tx => {
      await tx`select from leases where company_id = ${companyId} and lease_id = ${first!.leaseId} for update`
      running = Promise.resolve(
        work === 'renewing'
          ? renewLeases(db.sql, companyId, leases, worker)
          : finishLeases(db.sql, companyId, leases, clock()),
      )
      await eventually(async () => expect(await waitingForLocks()).toBe(1))
      await tx`select from leases where company_id = ${companyId} and lease_id = ${last!.leaseId} for update nowait`
    })
    await running
    await db.sql`delete from leases`
  },
)

/** Sessions of this database that wait for a lock. */
async function waitingForLocks(): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return row?.count ?? 0
}

test('leases of a worker are not read again until they expire', async () => {
  const companyId = await aCompanyWithSingles(1)
  const lanes = await runnableLanes(db.sql, clock())
  await takeChunks(
    db.sql,
    companyId,
    lanes.map(lane => ({ lane, size: 1 })),
    crypto.randomUUID(),
  )
  expect(await companiesWithLeases(db.sql, clock())).toEqual([])
  await db.sql`update leases set claimed_until = now() - interval '1 second' where company_id = ${companyId}`
  expect(await companiesWithLeases(db.sql, clock())).toEqual([companyId])
  await db.sql`delete from leases`
})
