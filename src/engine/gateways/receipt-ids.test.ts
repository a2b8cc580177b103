import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import { type SmscSettings, startSmsc } from '../../channels/smpp/smsc/smsc.ts'
import { learntReceiptIds, saveReceiptIds } from '../../domain/gateways/binds/receipt-ids.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aDispatch, aWorld, start, type World } from '../../testing/world.ts'
import { connectOnce } from './connectors.ts'
import { connectSmpp } from './smpp.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const { anEngine } = useEngines(db)
const atEnd: (() => unknown)[] = []

afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
  await db.sql`delete from gateways`
})

async function anSmsc(settings: SmscSettings = {}) {
  const smsc = await startSmsc({ answerIds: 'hex', receiptIds: 'decimal', ...settings })
  atEnd.push(() => smsc.stop())
  return smsc
}

/** A gateway whose operator may write ids in two ways. The settings do not say in which. */
const aSmppGateway = (port: number, binds = 1) =>
  aGateway(db.sql, {
    connector: 'smpp',
    settings: { host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', binds, drainMs: 500 },
  })

/** A connection to this gateway, and the ids that it reads from receipts. */
function connected(connect: (feed: Feed) => Channel) {
  const receipts: Receipt[] = []
  const channel = connect({
    async receipts(batch) {
      receipts.push(...batch)
    },
    async inbound() {},
    async gone() {},
  })
  atEnd.push(() => channel.stop())
  const idsReceipted = () => receipts.map(({ of }) => ('uuid' in of ? of.uuid : of.providerId)).sort()
  return { channel, idsReceipted, up: () => eventually(() => expect(channel.health().up).toBe(true)) }
}

function anEnginesConnection(gateway: Gateway) {
  const worker = randomUUID()
  return { worker, ...connected(feed => connectSmpp({ sql: db.sql, log, worker }, gateway, feed)) }
}

/** The numbers differ in the digits that are compared with a receipt. */
const someMessages = (count: number, from = 0): Outgoing[] =>
  Array.from({ length: count }, (_, i) => ({
    companyId: 1,
    uuid: randomUUID(),
    channelType: 'SMS',
    senderName: 'Tidings',
    destination: String(79_161_000_000 + from + i),
    text: 'Hello',
    parts: 1,
    attempts: 0,
  }))

/** The ids that the operator gave to the messages. */
async function send(channel: Channel, messages: Outgoing[]): Promise<string[]> {
  const ids: string[] = []
  const take = (_: number, result: SendResult) =>
    ids.push(...(result.kind === 'accepted' ? (result.providerIds ?? []) : []))
  await channel.submit(messages, take, () => true)
  expect(ids).toHaveLength(messages.length)
  return ids.sort()
}

/** Waits until an engine has looked twice: the first look may have begun before the call. */
async function looksAround(worker: string) {
  for (let look = 0; look < 2; look++) {
    const before = await leaseOf(worker)
    await eventually(async () => expect(await leaseOf(worker)).not.toBe(before))
  }
}

const leaseOf = async (worker: string) =>
  (await db.sql<{ claimedUntil: string }[]>`select claimed_until::text from gateway_binds where worker = ${worker}`)[0]
    ?.claimedUntil

test('engines that already run learn the form of the ids from another engine', async () => {
  const smsc = await anSmsc()
  const gateway = await aSmppGateway(smsc.port, 2)
  const learner = anEnginesConnection(gateway)
  await learner.up() // the operator sends receipts to the connection that came first
  const other = anEnginesConnection(gateway)
  await other.up()
  await send(learner.channel, someMessages(1))
  await eventually(async () =>
    expect(await learntReceiptIds(db.sql, gateway.gatewayId)).toMatchObject({ relation: 'hex-decimal' }),
  )
  await looksAround(other.worker)

  smsc.behave({ receiptMs: 1500 })
  const ids = await send(learner.channel, someMessages(100, 1))
  await learner.channel.stop()
  await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(101))
  expect(other.idsReceipted().length).toBeGreaterThan(0)
  expect(ids).toEqual(expect.arrayContaining(other.idsReceipted()))
})

test('a connection for one message reads the ids in receipts like the engines do', async () => {
  const smsc = await anSmsc({ receiptMs: 1000 })
  const gateway = await aSmppGateway(smsc.port)
  await saveReceiptIds(db.sql, gateway.gatewayId, { relation: 'hex-decimal', byAddress: true })
  const engine = anEnginesConnection(gateway)
  await engine.up()
  const ids = await send(engine.channel, someMessages(20))
  await engine.channel.stop()

  const once = connected(feed => connectOnce({ sql: db.sql, log }, gateway, feed))
  await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(20))
  expect(once.idsReceipted().length).toBeGreaterThan(0)
  expect(ids).toEqual(expect.arrayContaining(once.idsReceipted()))
})

describe('ids that count from 1', () => {
  let world: World
  let numbering: Numbering
  beforeAll(async () => {
    numbering = await loadNumbering(db.sql)
  })
  beforeEach(async () => {
    world = await aWorld(db.sql)
  })

  const connect = (gateway: Gateway, feed: Feed) =>
    connectSmpp({ sql: db.sql, log, worker: randomUUID() }, gateway, feed)

  /** How each message must end, by its number or its text. The operator reports the same. */
  async function aStartedDispatch(recipients: { destination: string; customText?: string }[]) {
    const dispatchId = await aDispatch(db.sql, numbering, world, recipients)
    await start(db.sql, world, dispatchId)
    return dispatchId
  }

  const ended = async (dispatchId: number) => {
    const rows = await db.sql<{ text: string; destination: string; status: string }[]>`
      select text, destination, status from messages where dispatch_id = ${dispatchId} order by dispatch_position`
    expect(rows.filter(({ status }) => status === 'CREATED' || status === 'SENT')).toEqual([])
    return rows
  }

  const forms: [string, SmscSettings][] = [
    ['hexadecimal, then decimal', { answerIds: 'hex', receiptIds: 'decimal' }],
    ['decimal, then hexadecimal', { answerIds: 'decimal', receiptIds: 'HEX' }],
  ]

  /** Every third message fails, so that a receipt that found the wrong message is noticed. */
  const failsAt = (text: string) => Number(/\d+$/.exec(text)) % 3 === 0

  async function anOperator(settings: SmscSettings) {
    const smsc = await anSmsc({ firstId: 1, failsWhen: failsAt, ...settings })
    await aSmppGateway(smsc.port, 2)
    return smsc
  }

  const isRight = (rows: { text: string; status: string }[]) =>
    expect(rows.filter(({ text, status }) => (status === 'FAILED') !== failsAt(text))).toEqual([])

  test.each(forms)(
    'receipts that come to two engines long before the answers all find their own message: %s',
    async (_, form) => {
      await anOperator({ ...form, earlyReceiptRate: 1, answerMs: 2500 })
      const dispatchId = await aStartedDispatch(
        Array.from({ length: 30 }, (_, i) => ({ destination: String(79_161_000_000 + i), customText: `Code ${i}` })),
      )
      await Promise.all([anEngine({ connect }), anEngine({ connect })])
      isRight(await eventually(() => ended(dispatchId)))
    },
  )

  test('receipts of sixty messages to one number find their messages, although the operator reuses ids after a restart', async () => {
    const smsc = await anOperator({ answerIds: 'hex', receiptIds: 'decimal', receiptMs: 500 })
    const toOne = (from: number) =>
      Array.from({ length: 60 }, (_, i) => ({ destination: '79161000000', customText: `Code ${from + i}` }))
    const first = await aStartedDispatch(toOne(0))
    await anEngine({ connect })
    isRight(await eventually(() => ended(first)))
    smsc.behave({ firstId: 1 })
    const second = await aStartedDispatch(toOne(1))
    isRight(await eventually(() => ended(second)))
  })

  test('a receipt that comes before its answer does not end an older message to the same number that had the same id before a restart', async () => {
    const smsc = await anSmsc({ firstId: 1, answerIds: 'decimal', receiptIds: 'decimal', missingReceiptRate: 1 })
    const { gatewayId } = await aSmppGateway(smsc.port)
    await saveReceiptIds(db.sql, gatewayId, { relation: 'same', byAddress: true })
    const toOne = [{ destination: '79161000000', customText: 'Code 1' }]
    const first = await aStartedDispatch(toOne)
    await anEngine({ connect })
    const isSent = (dispatchId: number) =>
      eventually(async () =>
        expect(await db.sql`select status from messages where dispatch_id = ${dispatchId}`).toEqual([
          { status: 'SENT' },
        ]),
      )
    await isSent(first)

    smsc.behave({ firstId: 1, missingReceiptRate: 0, earlyReceiptRate: 1, answerMs: 1000 })
    smsc.disconnect()
    const second = await aStartedDispatch(toOne)
    await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(1))
    await isSent(second)
    await isSent(first)
    expect(await db.sql`select provider_id as id from receipt_inbox where gateway_id = ${gatewayId}`).toEqual([
      { id: '1' },
    ])

    // When it is read again, it fits both messages, and waits until one of them has ended.
    await db.sql`update receipt_inbox set claimed_until = '-infinity' where gateway_id = ${gatewayId}`
    await eventually(async () =>
      expect(
        await db.sql`select from receipt_inbox where gateway_id = ${gatewayId} and claimed_until > '-infinity'`,
      ).toHaveLength(1),
    )
    await isSent(first)
    await db.sql`update messages set status = 'FAILED' where dispatch_id = ${first}`
    await eventually(async () => expect(await ended(second)).toMatchObject([{ status: 'DELIVERED' }]))
  })
})
