import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PagedLane } from '../../domain/lanes/lane.ts'
import { companiesWithLeases, leasesInTurn, queuesWithWork, takeChunk } from '../../domain/lanes/lanes.ts'
import { brandIds } from '../../domain/numbering/brand.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../testing/world.ts'
import { LaneQueue, type LaneQueueContext } from './lane-queue.ts'
import { CompanyTurns } from './turns.ts'

const db = useDatabase()
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  await db.sql`update lanes set open = false`
  await db.sql`delete from leases`
})

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

describe('lanes of operators that cannot send, and that were served longer ago than all others of the company', () => {
  let world: World

  beforeEach(async () => {
    world = await aCompanyWithLanes()
    await db.sql`update lanes set served_at = now() where company_id = ${world.companyId}`
  })

  /** Their sender names are invented, because the queue does not read them. */
  const manyLanes = (senderId: number, count: number) => db.sql`
    insert into lanes (company_id, channel_type, priority, sender_id, brand_id, dispatch_id, tail, open)
    select l.company_id, channel_type, priority, ${senderId}, l.brand_id, -i, 1, true from lanes l, generate_series(1, ${count}::int) i
    where company_id = ${world.companyId} and brand_id = ${brandIds.MTS} and dispatch_id > 0`

  const ofWorld = ({ senderId }: PagedLane) => world.senders.some(sender => sender.senderId === senderId)

  /** How many lanes of invented sender names, and of other names, come in a turn in which the former cannot send. */
  async function countsOfTurn(given: Partial<PagedLane> = {}) {
    const queue = await open()
    const lanes: PagedLane[] = []
    while (queue.hasMore()) {
      const lane = await queue.next()
      if (!lane) continue
      lanes.push(lane)
      if (!ofWorld(lane)) queue.leaveOut({ ...lane, ...given })
    }
    const others = lanes.filter(ofWorld).length
    return [lanes.length - others, others]
  }

  test('are left out of the pages after the first one, and come again in the next turn', async () => {
    await manyLanes(-1, 500)
    expect(await countsOfTurn()).toEqual([20, 4])
    expect(await countsOfTurn()).toEqual([20, 4])
  })

  test('do not hide other lanes, however many sender names they have', async () => {
    for (let name = 1; name <= 8; name++) await manyLanes(-name, 250)
    expect((await countsOfTurn())[1]).toBe(4)
  })

  test('are read when only a lease must wait for one of its gateways', async () => {
    await manyLanes(-1, 500)
    expect(await countsOfTurn({ gatewayId: 1 })).toEqual([500, 4])
  })
})

test('a lease that waits for one gateway is read, although its lane is left out', async () => {
  const { companyId } = await aCompanyWithLanes()
  const { gatewayId } = await aGateway(db.sql)
  const queue = await open({ turns: new CompanyTurns() })
  const lane = (await queue.next())!
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, claimed_until, due_at, gateway_id)
    select ${companyId}, ${lane.laneId}, 0, 1, '-infinity', now(), case when i = 1 then ${gatewayId}::bigint end
    from generate_series(1, 2) i`
  const page = { companyId, without: [lane.servingKey] }
  const read = await leasesInTurn(db.sql, lane.priority, new Date(), [page], 10)
  expect(read.map(lease => lease.gatewayId)).toEqual([gatewayId])
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
