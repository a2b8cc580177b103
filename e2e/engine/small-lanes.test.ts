import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import type { Channel, Outgoing } from '../../src/channels/channel.ts'
import { connect } from '../../src/db/sql.ts'
import { companiesWithLeases, takeChunks } from '../../src/domain/lanes/lanes.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { Recorder } from '../../src/engine/recording/recorder.ts'
import { Scheduler } from '../../src/engine/sending/scheduler.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSingle } from '../../src/testing/factories.ts'
import { runnableLanes } from '../../src/testing/lanes.ts'
import { aLiveGateway } from '../../src/testing/live-gateways.ts'
import { aWorld, billingZone } from '../../src/testing/world.ts'

/** Lanes of single messages with few messages each, which share their statements. */
const db = useDatabase()
const clock = () => new Date()
const log = pino({ level: 'silent' })
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

/** A scheduler on connections of its own, whose statements are noted. */
function aScheduler() {
  const statements: string[] = []
  const submitted: Outgoing[] = []
  const sql = connect(db.url, { max: 4 })
  Object.assign(sql.options, { debug: (_: number, text: string) => statements.push(text) })
  const channel: Channel = {
    window: 1000,
    health: () => ({ up: true }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        submitted.push(message)
        report(index, { kind: 'accepted', providerIds: [`id ${message.uuid}`] })
      }
    },
  }
  const gateway = aLiveGateway(1, {}, channel)
  const scheduler = new Scheduler({
    sql,
    clock,
    log,
    billingZone,
    recorder: new Recorder({ sql: db.sql, clock, log, billingZone }),
    worker: crypto.randomUUID(),
    gateways: {
      serving: () => ({ known: true, up: [gateway], isElsewhere: false }),
      carriersOf: () => new Set(),
      ofChannel: () => ({ up: [gateway], all: 1 }),
    },
    idleMs: 600_000,
  })
  closings.push(
    () => scheduler.stop(),
    () => sql.end({ timeout: 1 }),
  )
  return { statements, submitted }
}

const leases = () => db.sql`select from leases`

test('small lanes of a company are sent with one statement of each kind, each message once', async () => {
  await aCompanyWithSingles(3)
  const { statements, submitted } = aScheduler()
  await eventually(async () => expect(submitted).toHaveLength(12))
  await eventually(async () => expect(await leases()).toEqual([]))
  expect(new Set(submitted.map(({ uuid }) => uuid)).size).toBe(12)
  const count = (about: RegExp) => statements.filter(text => about.test(text)).length
  expect({
    leased: count(/insert into leases/),
    read: count(/from messages/),
    checked: count(/from stop_requests/),
    ended: count(/delete from leases/),
  }).toEqual({ leased: 1, read: 1, checked: 1, ended: 1 })
})

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
