import { beforeAll, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aCompany, aSingle } from '../../src/testing/factories.ts'
import { manyLanes } from '../../src/testing/lanes.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  world = await aWorld(db.sql)
})

const now = () => ({ billingZone, now: new Date() })

/** Accepts one message under each of these names, which are not registered. */
async function acceptUnder(names: string[], of = world): Promise<string[]> {
  const singles = names.map(senderName => ({
    ...aSingle(world.senders[0]!, { priority: 3, destination: '79163000177' }),
    channelType: 'VK' as const,
    senderId: null,
    senderName,
  }))
  const accepted = await acceptSingles(db.sql, of.companyId, singles, now())
  return accepted.flatMap(one => (one.kind === 'accepted' ? one.uuid : []))
}

const handedOver = (uuids: string[]) =>
  eventually(async () => {
    const rows = await db.sql<{ senderName: string; gatewayId: number }[]>`
      select sender_name, gateway_id from simulator_outbox()
      where message_uuid = any(${uuids}::uuid[]) order by sender_name`
    expect(rows).toHaveLength(uuids.length)
    return rows
  })

const lanesOf = async (companyId: number) =>
  (await db.sql`select lane_id from lanes where company_id = ${companyId}`).length

test('unregistered sender names share a lane, and each message is sent under its own name', async () => {
  await aGateway(db.sql, { name: 'vk', channelType: 'VK' })
  const fresh = await aWorld(db.sql)
  const names = Array.from({ length: 40 }, (_, i) => `Shop ${i}`).toSorted()
  const uuids = await acceptUnder(names, fresh)
  expect(await lanesOf(fresh.companyId)).toBe(1)
  await anEngine()
  expect((await handedOver(uuids)).map(({ senderName }) => senderName)).toEqual(names)
})

test('a sender name that a gateway carries has its own lane and is sent through that gateway', async () => {
  const fresh = await aWorld(db.sql)
  const forAll = await aGateway(db.sql, { name: 'for all', channelType: 'VK' })
  const settings = { senderNames: 'Own, Other' }
  const own = await aGateway(db.sql, { name: 'own', channelType: 'VK', settings, companies: [fresh.companyId] })
  const uuids = await acceptUnder(['Shop', 'Own', 'Corner', 'Own'], fresh)
  expect(await lanesOf(fresh.companyId)).toBe(2)
  await anEngine()
  const by = (await handedOver(uuids)).map(({ senderName, gatewayId }) => [senderName, gatewayId])
  expect(by).toEqual([
    ['Corner', forAll.gatewayId],
    ['Own', own.gatewayId],
    ['Own', own.gatewayId],
    ['Shop', forAll.gatewayId],
  ])
})

test('a message waits for the gateway that began to carry its name after it was accepted', async () => {
  const names = ['Shop', 'Own', 'Corner', 'Own', 'Shop']
  const fresh = await aWorld(db.sql)
  const uuids = await acceptUnder(names, fresh)
  const forAll = await aGateway(db.sql, { name: 'for all', channelType: 'VK' })
  const settings = { senderNames: ['Own'] }
  const own = await aGateway(db.sql, { name: 'own', channelType: 'VK', settings, companies: [fresh.companyId] })
  await db.sql`update gateways set paused = true where gateway_id = ${own.gatewayId}`
  await anEngine()
  const ofOthers = uuids.filter((_, i) => names[i] !== 'Own')
  for (const { gatewayId } of await handedOver(ofOthers)) expect(gatewayId).toBe(forAll.gatewayId)
  await db.sql`update gateways set paused = false where gateway_id = ${own.gatewayId}`
  const ofOwn = await handedOver(uuids.filter((_, i) => names[i] === 'Own'))
  expect(ofOwn.map(({ gatewayId }) => gatewayId)).toEqual([own.gatewayId, own.gatewayId])
})

test('a company with thousands of lanes does not delay the dispatch of another company', async () => {
  const LANES = 3000
  const crowd = await aCompany(db.sql, world.partner)
  await manyLanes(db.sql, crowd, LANES, 'SMS')
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(2000))
  await start(db.sql, world, dispatchId)
  await anEngine()
  await completed(db.sql, world, dispatchId)
  // The dispatch has four lanes of 500 messages. Between two of its chunks the other company gets only a few.
  const [before] = await db.sql<{ messages: number }[]>`
    select count(*) as messages from simulator_outbox() where company_id = ${crowd} and simulator_id <
      (select max(simulator_id) from simulator_outbox() where company_id = ${world.companyId})`
  expect(before!.messages).toBeLessThan(LANES / 2)
})

test('a company that has reached its limit of lanes can start no other dispatch and gets no new lane', async () => {
  const full = await aWorld(db.sql)
  await db.sql`
    insert into lanes (company_id, channel_type, sender_id, brand_id, priority, zone, tail, open)
    select ${full.companyId}, 'SMS', ${full.senders[0]!.senderId}, 1, 3, 'lane ' || n, 1, true
    from generate_series(1, 5000) n`
  const dispatchId = await aDispatch(db.sql, numbering, full, someRecipients(4))
  await expect(start(db.sql, full, dispatchId)).rejects.toThrow('Too many dispatches of the company')
  const single = aSingle(full.senders[0]!, { priority: 3, destination: '79163000277' })
  const accept = () => acceptSingles(db.sql, full.companyId, [single], { ...now(), isLaneBound: true })
  await expect(accept()).rejects.toThrow('too many sender names')
  await db.sql`update lanes set cursor = tail where company_id = ${full.companyId} and lane_id % 2 = 0`
  await start(db.sql, full, dispatchId)
  expect(await accept()).toMatchObject([{ kind: 'accepted' }])
})
