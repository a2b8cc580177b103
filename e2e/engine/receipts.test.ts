import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Receipt } from '../../src/channels/channel.ts'
import { lifeOfMessage } from '../../src/domain/message-life/message-life.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { lateReceiptsOfGateway } from '../../src/domain/receipts/late-receipts.ts'
import { useDatabase } from '../../src/testing/database.ts'
import {
  aChannel,
  aClock,
  aGateway,
  completed,
  expectBooksInOrder,
  expectPaid,
  fatesOf,
  handedOver,
  useEngines,
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine, anEngineProcess } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** An operator whose ids are made of the digits of the number: `30000-0`. */
const anOperator = (idOf = (destination: string, part: number) => `${destination}-${part}`) =>
  aChannel(({ destination, parts }) => ({
    kind: 'accepted',
    providerIds: Array.from({ length: parts }, (_, part) => idOf(destination, part)),
  }))

async function aSentDispatch(operator: ReturnType<typeof anOperator>, messages: number, text = 'Hello') {
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages), { text })
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect })
  await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: messages }))
  return dispatchId
}

const receipt = (providerId: string, status: Receipt['status'] = 'DELIVERED'): Receipt => ({
  of: { providerId },
  status,
  happenedAt: new Date(),
  ...(status === 'FAILED' ? { errorCode: 601 } : {}),
})

const [first, second] = someRecipients(2).map(({ destination }) => destination) as [string, string]

test('receipts that are doubled, repeated or late change the status once, charge once, and the final status stays', async () => {
  const operator = anOperator()
  const dispatchId = await aSentDispatch(operator, 2)
  const feed = operator.feed()
  await feed.receipts([receipt(`${first}-0`), receipt(`${first}-0`), receipt(`${second}-0`, 'FAILED')])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1, 'FAILED 601': 1 })

  await feed.receipts([receipt(`${first}-0`, 'FAILED'), receipt(`${second}-0`), receipt(`${first}-0`, 'READ')])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1, 'FAILED 601': 1 })
  const { status, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(status).toBe('COMPLETED')
  const [price] = await db.sql`select final_price as sum from messages where destination = ${first}
    and company_id = ${world.companyId}`
  expect(price!.sum).toBeLessThan(priceEstimate)
  await expectPaid(db.sql, world, price!.sum)

  await feed.receipts([receipt(`${first}-0`), receipt(`${first}-0`, 'FAILED'), receipt(`${second}-0`, 'FAILED')])
  expect(await lateReceipts()).toEqual([
    { destination: first, late: ['FAILED 601'] },
    { destination: second, late: ['DELIVERED null'] },
  ])
  const [gateway] = await db.sql`select max(gateway_id) as id from gateways`
  const { count, newest } = await lateReceiptsOfGateway(db.sql, gateway!.id)
  expect([count, newest.map(({ destination, status }) => `${destination} ${status}`).sort()]).toEqual([
    2,
    [`${first} FAILED`, `${second} DELIVERED`].sort(),
  ])
})

/** The receipts that came after the end of each message, as the page of the message shows them. */
async function lateReceipts() {
  const messages = await db.sql<{ uuid: string; destination: string }[]>`
    select message_uuid as uuid, destination from messages where company_id = ${world.companyId} order by dispatch_position`
  const told = async ({ uuid, destination }: { uuid: string; destination: string }) => {
    const { steps } = await lifeOfMessage(db.sql, [world.companyId], uuid, new Date())
    const late = steps[0]!.moments.flatMap(moment =>
      moment.kind === 'late receipt' ? `${moment.status} ${moment.errorCode}` : [],
    )
    return { destination, late }
  }
  return Promise.all(messages.map(told))
}

test('a receipt of an unknown message is stored, and does not affect other receipts', async () => {
  const operator = anOperator()
  const dispatchId = await aSentDispatch(operator, 2)
  await operator.feed().receipts([receipt('unknown-id'), receipt(`${first}-0`), receipt(`${second}-0`)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 2 })
  expect(await db.sql`select status from receipt_inbox where provider_id = 'unknown-id'`).toHaveLength(1)
  await db.sql`delete from receipt_inbox`
  await expectBooksInOrder(db.sql, world)
})

test('a receipt that comes before its id is committed finds its message', async () => {
  const operator = aChannel(async ({ destination }) => {
    await operator.feed().receipts([receipt(`${destination}-0`)]) // the receipt comes before the result of the submission
    return { kind: 'accepted', providerIds: [`${destination}-0`] }
  })
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(20))
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect })
  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages.delivered).toBe(20)
  await eventually(async () => expect(await db.sql`select from receipt_inbox`).toHaveLength(0))
  await expectPaid(db.sql, world, priceEstimate)
})

test('a receipt finds its message, although the answer to the submission came much later', async () => {
  const operator = aChannel(() => ({ kind: 'unknown', reason: 'no answer' }))
  const dispatchId = await aSentDispatch(operator as never, 1, 'Съешь же ещё этих мягких французских булок. '.repeat(2))
  await operator.feed().receipts([receipt('a'), receipt('b')])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1 })

  const [message] = await db.sql<
    { uuid: string }[]
  >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
  const late = { companyId: world.companyId, uuid: message!.uuid, parts: 2 }
  await Promise.all([
    operator.feed().late!({ ...late, part: 0, providerId: 'a' }),
    operator.feed().late!({ ...late, part: 1, providerId: 'b' }),
  ])
  await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1 }))
  await eventually(async () => expect(await db.sql`select from receipt_inbox`).toHaveLength(0))
  await expectBooksInOrder(db.sql, world)
})

test('a receipt with our own id that comes before the submission is recorded makes the message sent and delivered', async () => {
  const operator = aChannel(async ({ companyId, uuid }) => {
    void operator.feed().receipts([{ of: { companyId, uuid }, status: 'DELIVERED', happenedAt: new Date() }])
    await pause(100) // time to record it
    return { kind: 'accepted' }
  })
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect })
  const { priceEstimate } = await completed(db.sql, world, dispatchId)
  const [unsent] =
    await db.sql`select count(*) as n from messages where dispatch_id = ${dispatchId} and sent_at is null`
  expect(unsent!.n).toBe(0)
  await expectPaid(db.sql, world, priceEstimate)
})

test('a message of several parts is delivered when all parts are delivered', async () => {
  const operator = anOperator()
  const dispatchId = await aSentDispatch(operator, 1, 'a'.repeat(400))
  const feed = operator.feed()
  await feed.receipts([receipt(`${first}-0`), receipt(`${first}-2`), receipt(`${first}-2`)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1 })
  await feed.receipts([receipt(`${first}-1`)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1 })
  await expectBooksInOrder(db.sql, world)
})

test('a message of several parts fails when one part fails; a late receipt of another part changes nothing', async () => {
  const operator = anOperator()
  const dispatchId = await aSentDispatch(operator, 2, 'a'.repeat(400))
  const feed = operator.feed()
  await feed.receipts([receipt(`${first}-1`, 'FAILED')])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1, 'FAILED 601': 1 })
  await feed.receipts([receipt(`${first}-0`), ...[0, 1, 2].map(part => receipt(`${second}-${part}`))])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1, 'FAILED 601': 1 })
  await expectBooksInOrder(db.sql, world)
})

test('receipts with the number of the message end it, although its parts were sent before and after midnight', async () => {
  const operator = anOperator()
  const dispatchId = await aSentDispatch(operator, 1, 'Съешь же ещё этих мягких французских булок. '.repeat(2))
  await db.sql`
    insert into submissions (gateway_id, provider_id, day, company_id, message_uuid, part, parts)
    select gateway_id, provider_id, day + 1, company_id, message_uuid, part, parts from submissions
    where company_id = ${world.companyId} and part = 0`
  const named = (part: number) => ({ ...receipt(`${first}-${part}`), subscriber: first })
  await operator.feed().receipts([named(0), named(1)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1 })
})

test('a message of several parts that was sent twice is delivered when every part is delivered once', async () => {
  let round = 0
  const operator = anOperator((destination, part) => `${destination}-${part}-${round}`)
  const dispatchId = await aSentDispatch(operator, 1, 'a'.repeat(200))
  const feed = operator.feed()
  // The ids that the same message got through the other engine.
  await db.sql`
    insert into submissions (gateway_id, provider_id, day, company_id, message_uuid, part, parts)
    select gateway_id, replace(provider_id, '-0', '-0-again'), day, company_id, message_uuid, part, parts from submissions
    where company_id = ${world.companyId}`
  round = 1
  await feed.receipts([receipt(`${first}-0-0`), receipt(`${first}-0-again-0-again`)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1 })
  await feed.receipts([receipt(`${first}-1-0`)])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ DELIVERED: 1 })
  await expectBooksInOrder(db.sql, world)
})

test('an id that the operator reuses belongs to the newest message without a final status', async () => {
  const operator = anOperator(() => 'id-0')
  const dispatchId = await aSentDispatch(operator, 2)
  const uuids =
    await db.sql`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by message_uuid`
  await operator.feed().receipts([receipt('id-0')])
  const delivered = () =>
    db.sql`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} and status = 'DELIVERED'`
  expect(await delivered()).toEqual([uuids[1]])
  await operator.feed().receipts([receipt('id-0')])
  expect(await delivered()).toHaveLength(2)
  await expectBooksInOrder(db.sql, world)
})

test('a message without a receipt fails after 25 hours with 7060, is not charged, and stays failed', async () => {
  const begun = new Date()
  const after = (hours: number) => new Date(begun.getTime() + hours * 3600_000).toISOString()
  const clock = aClock(begun.toISOString())
  const operator = aChannel(({ destination }) =>
    destination === first ? { kind: 'accepted', providerIds: ['late'] } : { kind: 'unknown', reason: 'timeout' },
  )
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect, clock })
  await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }))
  await eventually(async () => expect((await db.sql`select from leases`).length).toBe(0))

  clock.set(after(24.99))
  await pause(1200)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 })
  clock.set(after(25.01))
  await completed(db.sql, world, dispatchId)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 7060': 40 })
  await eventually(async () => expect(await db.sql`select from deadlines`).toHaveLength(0))
  await operator.feed().receipts([receipt('late')])
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 7060': 40 })
  expect(operator.handed).toHaveLength(40)
  await expectPaid(db.sql, world, 0n)
})

test('a message that an engine recorded late ends after its own lifetime', async () => {
  const begun = new Date()
  const after = (hours: number) => new Date(begun.getTime() + hours * 3600_000).toISOString()
  const clock = aClock(begun.toISOString())
  const operator = aChannel(() => ({ kind: 'accepted' }))
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(1))
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect, clock })
  await eventually(async () => expect(await db.sql`select from deadlines`).toHaveLength(1))
  await db.sql`update messages set sent_at = ${after(1)} where dispatch_id = ${dispatchId}`

  clock.set(after(25.5))
  await eventually(async () => {
    const [deadline] = await db.sql`select due_at from deadlines`
    expect(deadline!.dueAt.toISOString()).toBe(after(26))
  })
  clock.set(after(26.1))
  await completed(db.sql, world, dispatchId)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 7060': 1 })
})

test('receipts with operator ids at two engine processes find every message, also receipts that come early', async () => {
  await aGateway(db.sql, { settings: { ownIds: true, receiptMs: 0 } })
  const early = ['79160000007', '79030000007', '79260000007', '79770000007'].map(destination => ({ destination }))
  const recipients = [...early, ...someRecipients(1996)]
  const dispatchId = await aDispatch(db.sql, numbering, world, recipients, { text: 'a'.repeat(200) })
  await Promise.all([anEngineProcess(), anEngineProcess()])
  await start(db.sql, world, dispatchId)
  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ delivered: 2000, failed: 0 })
  expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 2000, messages: 2000 })
  await expectPaid(db.sql, world, priceEstimate)
})
