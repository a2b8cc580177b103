import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import { connect } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { explain, statementsOf } from '../../testing/plans.ts'
import { aWorld } from '../../testing/world.ts'
import { simulatedMessage, simulatorOutbox, storeSimulated, trimOutbox, unreportedSimulated } from './gateways.ts'
import type { SimulatedMessage } from './store.ts'
import * as store from './store.ts'

const db = useDatabase()
const GATEWAY = 7
const [worker, other] = [randomUUID(), randomUUID()]

beforeEach(() => db.sql`truncate simulator_batches, simulator_messages, messages`)

const someMessages = (count: number, companyId = 1): SimulatedMessage[] =>
  uuid7Batch(new Date(), count).map((uuid, i) => ({
    companyId,
    uuid,
    senderName: 'ROMASHKA',
    destination: String(79160000000 + i),
    channelType: 'SMS',
    text: `Заказ "${i}" готов\n\\`,
  }))

const keep = (messages: SimulatedMessage[], by = worker) => storeSimulated(db.sql, GATEWAY, by, messages)

/** As programs before the batches wrote them. */
const keepAsBefore = ({ companyId, uuid, senderName, destination, channelType, text }: SimulatedMessage) => db.sql`
  insert into simulator_messages (gateway_id, worker, company_id, message_uuid, sender_name, destination, channel_type, text)
  values (${GATEWAY}, ${worker}, ${companyId}, ${uuid}, ${senderName}, ${destination}, ${channelType}, ${text})`

test('the outbox lists the messages as they were accepted, and messages of older programs first', async () => {
  const messages = someMessages(6)
  const [first, ...later] = messages
  await keep(later.slice(0, 3))
  await keep(later.slice(3))
  await keepAsBefore(first!)
  expect(await simulatorOutbox(db.sql)).toEqual(messages)
})

test('a batch does not wait for the disk, and the next transaction of its connection does', async () => {
  const settings = await db.sql.begin(async tx => {
    await tx`set local synchronous_commit = on`
    const setting = async () => (await tx`show synchronous_commit`)[0]!.synchronousCommit
    const before = await setting()
    await storeSimulated(tx, GATEWAY, worker, someMessages(2))
    return [before, await setting()]
  })
  expect(settings).toEqual(['on', 'off'])
  const one = connect(db.url, { max: 1 })
  await one`set synchronous_commit = on`
  await storeSimulated(one, GATEWAY, worker, someMessages(2))
  expect((await one`show synchronous_commit`)[0]!.synchronousCommit).toBe('on')
  await one.end({ timeout: 1 })
})

test('a message is found by its company and id', async () => {
  const messages = someMessages(3)
  await keep(messages)
  await keep(someMessages(3))
  expect(await simulatedMessage(db.sql, 1, messages[1]!.uuid)).toEqual(messages[1])
  expect(await simulatedMessage(db.sql, 2, messages[1]!.uuid)).toBeUndefined()
  expect(await simulatedMessage(db.sql, 1, randomUUID())).toBeUndefined()
})

test('the newest batches stay, with at least 100,000 messages', async () => {
  const batchOf = (count: number) => db.sql`
    insert into simulator_batches (gateway_id, worker, message_count, messages)
    values (${GATEWAY}, ${worker}, ${count}, ${JSON.stringify(someMessages(1))}::text)`
  for (const count of [1, 30_000, 60_000, 1, 39_999]) await batchOf(count)
  await trimOutbox(db.sql)
  const counts = async () =>
    (await db.sql`select message_count from simulator_batches order by batch_id`).map(
      ({ messageCount }) => messageCount,
    )
  expect(await counts()).toEqual([60_000, 1, 39_999])
  await trimOutbox(db.sql)
  expect(await counts()).toHaveLength(3)
  await batchOf(1)
  await trimOutbox(db.sql)
  expect(await counts()).toEqual([60_000, 1, 39_999, 1])
  await batchOf(60_000)
  await trimOutbox(db.sql)
  expect(await counts()).toEqual([39_999, 1, 60_000])
})

test('messages of older programs are deleted after a day', async () => {
  const [old, young] = someMessages(2)
  await keepAsBefore(old!)
  await db.sql`update simulator_messages set accepted_at = now() - interval '25 hours'`
  await keepAsBefore(young!)
  await trimOutbox(db.sql)
  expect(await simulatorOutbox(db.sql)).toEqual([young])
})

test('the messages of other engines that are still SENT are reported, and no others', async () => {
  const { companyId } = await aWorld(db.sql)
  const messages = someMessages(4, companyId)
  const [final, sent, own, before] = messages
  for (const [message, status] of [
    [final, 'DELIVERED'],
    [sent, 'SENT'],
    [own, 'SENT'],
    [before, 'SENT'],
  ] as const)
    await db.sql`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text)
      values (${companyId}, ${message!.uuid}, 0, ${status}, 1, 1, ${message!.destination}, '')`
  await keep([final!, sent!], other)
  await keep([own!])
  await keepAsBefore(before!)
  const destinationsFor = async (engine: string, least: number, gatewayId = GATEWAY, most = 60) =>
    (await unreportedSimulated(db.sql, gatewayId, engine, { least, most })).map(({ destination }) => destination)
  expect(await destinationsFor(worker, 0)).toEqual([sent!.destination])
  expect((await destinationsFor(other, 0)).toSorted()).toEqual([own!.destination, before!.destination].toSorted())
  expect(await destinationsFor(worker, 60, GATEWAY, 120)).toEqual([])
  expect(await destinationsFor(worker, 0, GATEWAY, 0)).toEqual([])
  expect(await destinationsFor(worker, 0, GATEWAY + 1)).toEqual([])
})

test('the trim reads the numbers of messages from the index alone', async () => {
  await db.sql`
    insert into simulator_batches (gateway_id, worker, message_count, messages)
    select ${GATEWAY}, ${worker}, 1, repeat('x', 500) from generate_series(1, 20000)`
  await db.sql`vacuum analyze simulator_batches`
  const [statement] = await statementsOf(db.url, async sql => store.trimSimulated(sql, 100_000))
  const plan = JSON.stringify(await explain(db.url, statement!))
  expect(plan).toMatch(/"Node Type":"Index Only Scan"[^}]*"Index Name":"simulator_batches_pkey"/)
  expect(plan).not.toMatch(/"Node Type":"Seq Scan"[^}]*"Relation Name":"simulator_batches"/)
})
