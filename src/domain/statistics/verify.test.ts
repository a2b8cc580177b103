import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { errorCodes } from '../../base/error-codes.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../testing/world.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { stopMessages } from '../stopping/stopping.ts'
import { rebuildTraffic, verifyTraffic } from './verify.ts'

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

const HOUR_MS = 3600_000
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS)
const record = (statusReports: StatusReport[]) =>
  recordStatusReports(db.sql, world.companyId, statusReports, { billingZone, now: new Date() })
const differences = () => verifyTraffic(db.sql, { companyId: world.companyId })

async function aStarted(count: number): Promise<string[]> {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(count))
  await start(db.sql, world, dispatchId)
  const rows = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  return rows.map(({ uuid }) => uuid)
}

type Sums = Record<'accepted' | 'sent' | 'delivered' | 'failed', number>

const sumsOf = async () =>
  (
    await db.sql<Sums[]>`
      select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(sent), 0)::int as sent,
        coalesce(sum(delivered), 0)::int as delivered, coalesce(sum(failed), 0)::int as failed
      from traffic_hours where company_id = ${world.companyId}`
  )[0]

describe('the statistics', () => {
  test('follow a dispatch through every fate, each in its hour', async () => {
    const uuids = await aStarted(10)
    const [straight, late, failed, early, refused, stopped] = [0, 2, 4, 5, 6, 7].map((from, i, all) =>
      uuids.slice(from, all[i + 1] ?? 8),
    )
    await record(
      straight!.map(uuid => ({ uuid, sentAt: hoursAgo(3), final: { status: 'DELIVERED', at: hoursAgo(2) } })),
    )
    await record(late!.map(uuid => ({ uuid, sentAt: hoursAgo(5) })))
    await record(late!.map(uuid => ({ uuid, final: { status: 'DELIVERED', at: hoursAgo(1) } })))
    await record(failed!.map(uuid => ({ uuid, sentAt: hoursAgo(3), final: { status: 'FAILED', at: hoursAgo(3) } })))
    await record(early!.map(uuid => ({ uuid, final: { status: 'DELIVERED', at: hoursAgo(4) } })))
    await record(refused!.map(uuid => ({ uuid, refused: { at: hoursAgo(0), errorCode: errorCodes.expired } })))
    await stopMessages(db.sql, world.companyId, stopped!, { billingZone, now: new Date() })

    expect(await sumsOf()).toEqual({ accepted: 10, sent: 6, delivered: 5, failed: 3 })
    expect(await differences()).toEqual([])
    const [paid] = await db.sql`
      select (select sum(spent) from traffic_hours where company_id = ${world.companyId}) as rolled,
        (select sum(final_price) from messages where company_id = ${world.companyId}) as counted`
    expect(paid!.rolled).toBe(paid!.counted)
    expect(paid!.rolled).toBeGreaterThan(0n)
  })

  test('count a repeated or late word once, also when engines record side by side', async () => {
    const uuids = await aStarted(40)
    const sent = () => record(uuids.map(uuid => ({ uuid, sentAt: hoursAgo(2) })))
    const delivered = () => record(uuids.map(uuid => ({ uuid, final: { status: 'DELIVERED', at: hoursAgo(1) } })))
    const failed = () => record(uuids.map(uuid => ({ uuid, final: { status: 'FAILED', at: hoursAgo(0) } })))
    await Promise.all([sent(), delivered(), failed(), sent(), delivered()])
    expect(await differences()).toEqual([])
    expect((await sumsOf())!.sent).toBe(40)
  })

  test('count rejected recipients, and messages that are added while engines record', async () => {
    const uuids = await aStarted(30)
    const recipients = [...someRecipients(20), { destination: 'nonsense' }]
    const adding = [1, 2, 3].map(() => aDispatch(db.sql, numbering, world, recipients))
    const recording = uuids.map(uuid => record([{ uuid, sentAt: new Date() }]))
    await Promise.all([...adding, ...recording])
    expect(await sumsOf()).toEqual({ accepted: 93, sent: 30, delivered: 0, failed: 3 })
    expect(await differences()).toEqual([])
  })
})

describe('a figure that was changed by hand', () => {
  const change = () =>
    db.sql`update traffic_hours set accepted = accepted + 2, spent = spent - 0.5 where company_id = ${world.companyId}`

  test('is found with its hour, and only in the hours that are asked for', async () => {
    await aStarted(1)
    await change()
    const found = await differences()
    expect(found).toMatchObject([
      { companyId: world.companyId, channelType: 'SMS', what: 'accepted', rolledUp: '3', counted: '1' },
      { companyId: world.companyId, trafficType: 'PROMO', what: 'spent', rolledUp: '-0.5000' },
    ])
    const { hour } = found[0]!
    const { companyId } = world
    expect(await verifyTraffic(db.sql, { companyId, to: hour })).toEqual([])
    expect(await verifyTraffic(db.sql, { companyId, from: new Date(hour.getTime() + HOUR_MS) })).toEqual([])
    expect(await verifyTraffic(db.sql, { companyId, from: hour })).toEqual(found)
  })

  test('is mended by a rebuild, beside engines at work and another rebuild', async () => {
    const uuids = await aStarted(60)
    await change()
    const recording = uuids.map(uuid => record([{ uuid, sentAt: hoursAgo(1) }]))
    await Promise.all([rebuildTraffic(db.sql), ...recording, rebuildTraffic(db.sql)])
    expect(await differences()).toEqual([])
    expect(await sumsOf()).toMatchObject({ accepted: 60, sent: 60 })
    expect(await rebuildTraffic(db.sql)).toBe(0)
  })

  test('is mended where all rows are gone, as after an update from a version without statistics', async () => {
    const uuids = await aStarted(5)
    await record(uuids.map(uuid => ({ uuid, sentAt: hoursAgo(30), final: { status: 'DELIVERED', at: hoursAgo(1) } })))
    const before =
      await db.sql`select * from traffic_hours where company_id = ${world.companyId} order by hour, brand_id`
    await db.sql`delete from traffic_hours where company_id = ${world.companyId}`
    expect(await rebuildTraffic(db.sql)).toBeGreaterThan(0)
    const after =
      await db.sql`select * from traffic_hours where company_id = ${world.companyId} order by hour, brand_id`
    expect(after).toEqual(before)
  })
})
