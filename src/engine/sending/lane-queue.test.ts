import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PagedLane } from '../../domain/lanes/lane.ts'
import { companiesWithLeases, queuesWithWork, takeChunk } from '../../domain/lanes/lanes.ts'
import { brandIds } from '../../domain/numbering/brand.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../testing/world.ts'
import { LaneQueue, type LaneQueueContext } from './lane-queue.ts'
import { CompanyTurns } from './turns.ts'

const db = useDatabase()
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(() => db.sql`update lanes set open = false`)

/** A company whose dispatch waits in four lanes, one for each brand. */
async function aCompanyWithLanes(messagesPerLane = 1): Promise<World> {
  const world = await aWorld(db.sql)
  await start(db.sql, world, await aDispatch(db.sql, numbering, world, someRecipients(4 * messagesPerLane)))
  return world
}

async function open(given: Partial<LaneQueueContext> = {}): Promise<LaneQueue> {
  const now = new Date()
  const [row] = await db.sql<{ priority: number }[]>`select priority from lanes where open limit 1`
  const turns = new CompanyTurns()
  const priority = given.priority ?? row?.priority ?? 0
  const queues = await queuesWithWork(db.sql, priority, given.now ?? now)
  const context = { sql: db.sql, priority, now, turns, isFull: () => false, ...given }
  return new LaneQueue(context, queues, await companiesWithLeases(db.sql, now))
}

/** Takes lanes until the queue is empty, and starts so many messages of each. */
async function takeAll(queue: LaneQueue, messages = 1) {
  const taken = []
  while (queue.hasMore()) {
    const lane = await queue.next()
    if (!lane) continue
    taken.push(lane)
    queue.served(lane.companyId, [{ lane, messages }])
  }
  return taken
}

test('a queue without work is empty', async () => {
  const queue = await open()
  expect(queue.hasMore()).toBe(false)
  expect(await queue.next()).toBeUndefined()
})

test('every lane with messages comes once when all its messages are started', async () => {
  await aCompanyWithLanes()
  const lanes = await takeAll(await open())
  expect(new Set(lanes.map(({ laneId }) => laneId)).size).toBe(4)
  expect(lanes).toHaveLength(4)
})

test('the rest of a lane comes again behind the other lanes of its company', async () => {
  await aCompanyWithLanes(2)
  const ids = (await takeAll(await open())).map(({ laneId }) => laneId)
  expect(ids).toHaveLength(8)
  expect(ids.slice(4)).toEqual(ids.slice(0, 4))
})

test('a lane that could not send does not come again in this turn', async () => {
  await aCompanyWithLanes(2)
  expect(await takeAll(await open(), 0)).toHaveLength(4)
})

test('companies take turns', async () => {
  const [first, second] = [await aCompanyWithLanes(), await aCompanyWithLanes()]
  const companies = (await takeAll(await open())).map(({ companyId }) => companyId)
  expect(companies.slice(0, 2).toSorted()).toEqual([first.companyId, second.companyId].toSorted())
  expect(companies).toHaveLength(8)
  for (let place = 2; place < 8; place++) expect(companies[place]).toBe(companies[place - 2])
})

test('lanes tried in vain let other companies come in between, until all companies had their turn', async () => {
  const [first, second] = [await aCompanyWithLanes(), await aCompanyWithLanes()]
  const turns = new CompanyTurns()
  const companies = (await takeAll(await open({ turns }), 0)).map(({ companyId }) => companyId)
  expect(new Set(companies.slice(0, 2)).size).toBe(2)
  expect(new Set(companies.slice(2, 4)).size).toBe(2)
  for (const { companyId } of [first, second]) expect(turns.placeOf(companyId)).toBe(4)
  turns.forgetAttempts()
  for (const { companyId } of [first, second]) expect(turns.placeOf(companyId)).toBe(0)
})

describe('five hundred lanes to one operator that were served longer ago than the lanes to the others', () => {
  beforeEach(async () => {
    const { companyId } = await aCompanyWithLanes()
    await db.sql`
      insert into lanes (company_id, channel_type, priority, sender_id, brand_id, dispatch_id, tail, open)
      select company_id, channel_type, priority, sender_id, brand_id, -i, 1, true from lanes, generate_series(1, 500) i
      where company_id = ${companyId} and brand_id = ${brandIds.MTS}`
    await db.sql`update lanes set served_at = now() where company_id = ${companyId} and dispatch_id > 0`
  })

  /** The brands of all lanes of a turn in which the operator cannot send. */
  async function brandsOfTurn(given: Partial<PagedLane> = {}) {
    const queue = await open()
    const lanes: PagedLane[] = []
    while (queue.hasMore()) {
      const lane = await queue.next()
      if (!lane) continue
      lanes.push(lane)
      if (lane.brandId === brandIds.MTS) queue.leaveOut({ ...lane, ...given })
    }
    return lanes.map(({ brandId }) => brandId)
  }

  test('are left out of the pages after the first one when the operator cannot send', async () => {
    const brands = await brandsOfTurn()
    expect(brands).toHaveLength(20 + 3)
    expect(brands.slice(20).toSorted()).toEqual([brandIds.BEELINE, brandIds.MEGAFON, brandIds.TELE2])
    expect(await brandsOfTurn(), 'and come again in the next turn').toHaveLength(20 + 3)
  })

  test('are read when only a lease must wait for one of its gateways', async () => {
    expect(await brandsOfTurn({ gatewayId: 1 })).toHaveLength(500 + 4)
  })
})

test('the lanes of a full channel are not read', async () => {
  await aCompanyWithLanes()
  const queue = await open({ isFull: channelType => channelType === 'SMS' })
  expect(queue.hasMore()).toBe(false)
})

test('a channel that becomes full during the turn gives no further lanes', async () => {
  await aCompanyWithLanes()
  let isFull = false
  const queue = await open({ isFull: () => isFull })
  isFull = true
  expect(await takeAll(queue)).toEqual([])
})

test('a lease of a dead worker comes before the lane that it belongs to', async () => {
  const { companyId } = await aCompanyWithLanes(2)
  const lane = await (await open()).next()
  if (!lane) throw new Error('The dispatch has no lane')
  await takeChunk(db.sql, lane, 1, crypto.randomUUID())
  await db.sql`update leases set claimed_until = '-infinity' where company_id = ${companyId}`
  await db.sql`update lanes set served_at = '-infinity' where company_id = ${companyId}`
  const places = (await takeAll(await open())).filter(({ laneId }) => laneId === lane.laneId)
  expect(places.map(({ leaseId }) => leaseId !== undefined && leaseId !== null)).toEqual([true, false])
})
