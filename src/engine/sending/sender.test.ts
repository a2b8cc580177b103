import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Outgoing } from '../../channels/channel.ts'
import { setSwitches } from '../../domain/companies/companies.ts'
import { addRecipients, createClientDispatch } from '../../domain/dispatches/client-dispatches.ts'
import type { CascadeStep } from '../../domain/dispatches/dispatch.ts'
import { startCreatedDispatch } from '../../domain/dispatches/lifecycle.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import type { CascadePlan, MessageRequest } from '../../domain/messages/single.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { Intake } from '../../domain/singles/intake.ts'
import { useDatabase } from '../../testing/database.ts'
import { aChannel, aClock, aGateway, expectBooksInOrder, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender } from '../../testing/factories.ts'
import { aMessageRequest } from '../../testing/message-requests.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'

/** Which messages a gateway gets, and how its result changes their status. */

const db = useDatabase()
const { anEngine } = useEngines(db)
const linkBase = 'http://localhost/s'
let numbering: Numbering
let world: World
let clock: ReturnType<typeof aClock>

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  clock = aClock(new Date().toISOString())
})

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const later = (ms: number) => new Date(clock().getTime() + ms)
const move = (ms: number) => clock.set(later(ms).toISOString())

const request = (given: Partial<MessageRequest> = {}) => aMessageRequest({ destination: '79160000077', ...given })

async function accept(...requests: MessageRequest[]): Promise<string[]> {
  const intake = new Intake({ sql: db.sql, clock, numbering: () => numbering, billingZone, linkBase })
  const outcomes = await intake.accept(world.companyId, requests)
  return outcomes.map(outcome => {
    if (outcome.kind === 'refused') throw new Error(outcome.reason)
    return outcome.uuid
  })
}

const rowOf = async (uuid: string) =>
  (
    await db.sql`
      select status, error_code, sent_at, final_at from messages
      where message_uuid = ${uuid}`
  )[0]!

const taking = () => aChannel(({ uuid }) => ({ kind: 'accepted', providerIds: [`id ${uuid}`] }))

test('a message that the operator reports as delivered at once becomes SENT and DELIVERED in one step', async () => {
  await aGateway(db.sql)
  const [uuid] = await accept(request())
  const operator = aChannel(() => ({ kind: 'accepted', providerIds: ['m1'], delivered: true }))
  await anEngine({ connect: operator.connect, clock })
  await eventually(async () =>
    expect(await rowOf(uuid!)).toEqual({ status: 'DELIVERED', errorCode: null, sentAt: clock(), finalAt: clock() }),
  )
  expect(operator.handed).toHaveLength(1)
  await expectBooksInOrder(db.sql, world)
})

test('messages return to their lane when the chosen gateway has lost all its connections', async () => {
  await aGateway(db.sql)
  const [uuid] = await accept(request())
  const operator = taking()
  let isConnected = false
  const asked = Promise.withResolvers<void>()
  await anEngine({
    clock,
    connect(gateway, feed) {
      const channel = operator.connect(gateway, feed)
      return {
        ...channel,
        get window() {
          asked.resolve()
          return isConnected ? 10 : 0
        },
        submit: async (...given) => (isConnected ? channel.submit(...given) : undefined),
      }
    },
  })
  await asked.promise
  await eventually(async () => expect(await db.sql`select from leases where worker is null`).not.toHaveLength(0))
  isConnected = true
  await eventually(async () => expect(await rowOf(uuid!)).toMatchObject({ status: 'SENT' }))
})

test('a message that waited longer than the common lifetime is not submitted', async () => {
  await aGateway(db.sql)
  const [uuid] = await accept(request())
  move(25 * HOUR_MS)
  const operator = taking()
  await anEngine({ connect: operator.connect, clock })
  await eventually(async () => expect(await rowOf(uuid!)).toMatchObject({ status: 'FAILED', errorCode: 453 }))
  expect(operator.handed).toEqual([])
})

test('after an engine is killed, the parts of its message that have an operator id are not sent again', async () => {
  await aGateway(db.sql)
  const [long, other] = await accept(request({ text: 'a'.repeat(400) }), request())
  const killed = await anEngineThatTakesTheFirstPart()
  await eventually(async () =>
    expect(await db.sql`select from submissions where message_uuid = ${long!}`).toHaveLength(1),
  )
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  await db.sql`update leases set claimed_until = '-infinity'` // as if the lease had run out

  const operator = aChannel(({ uuid, parts }) => ({
    kind: 'accepted',
    providerIds: Array.from({ length: parts }, (_, part) => `${part} ${uuid}`),
  }))
  await anEngine({ connect: operator.connect })
  await eventually(async () => expect((await rowOf(long!)).status).toBe('SENT'))
  await eventually(async () => expect((await rowOf(other!)).status).toBe('SENT'))
  expect(operator.handed.map(({ uuid, taken }) => [uuid, taken])).toEqual([
    [long, { 0: 'first' }],
    [other, undefined],
  ])
})

/** An engine in its own process. Its operator accepts the first part of a long message and does not answer the other parts. */
async function anEngineThatTakesTheFirstPart() {
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const script = `
    import { pino } from ${JSON.stringify(import.meta.resolve('pino'))}
    import { connect } from ${module('../../db/sql.ts')}
    import { startEngine } from ${module('../engine.ts')}
    const channel = {
      window: 100,
      health: () => ({ up: true }),
      stop: async () => {},
      submit(batch, report, mayGo) {
        for (const [index, { parts }] of batch.entries())
          if (mayGo(index) && parts > 1)
            report(index, { kind: 'busy', reason: 'too fast', retryAfterMs: 1000, taken: { 0: 'first' } })
        return new Promise(() => {})
      },
    }
    await startEngine({ sql: connect(${JSON.stringify(db.url)}), clock: () => new Date(), moderation: 'manual',
      log: pino({ level: 'fatal' }, pino.destination(2)), billingZone: 'Europe/Moscow', callbacks: { allow: [] },
      connect: () => channel })
    process.stdout.write('up')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout!, 'data')
  return child
}

describe('the expiry that the operator is told:', () => {
  const expiryOf = ({ expiresAt }: Outgoing) => expiresAt && (expiresAt.getTime() - clock().getTime()) / MINUTE_MS

  test('for a single message, the rest of its ttl at the time of sending', async () => {
    await aGateway(db.sql)
    await accept(request({ options: { ttl: 3600 } }), request())
    move(5 * MINUTE_MS)
    const operator = taking()
    await anEngine({ connect: operator.connect, clock })
    await eventually(() => expect(operator.handed.map(expiryOf)).toEqual([55, undefined]))
  })

  test('for the steps of a cascade, the ttl of each step from the time it is sent', async () => {
    await aGateway(db.sql, { name: 'viber', channelType: 'VIBER' })
    await aGateway(db.sql)
    await anApprovedSender(db.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
    const step = (channelType: 'VIBER' | 'SMS', ttlSeconds: number | null): CascadePlan[number] => ({
      request: request({ channelType, options: { ttl: ttlSeconds } }),
      condition: 'not_delivered',
      ttlSeconds,
    })
    const plan = [step('VIBER', 3600), step('SMS', 120), step('SMS', null)]
    await accept({ ...plan[0]!.request, cascade: { step: 1, plan } })
    move(5 * MINUTE_MS)
    const operator = aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))
    await anEngine({ connect: operator.connect, clock })
    await eventually(() => expect(operator.handed.map(expiryOf)).toEqual([60, 2, undefined]))
  })

  const aCascade: CascadeStep[] = [
    { channelType: 'SMS', senderName: 'sms_promo', text: 'A', content: null, condition: 'not_delivered', ttl: 900 },
    { channelType: 'SMS', senderName: 'sms_promo', text: 'B', content: null, condition: null, ttl: null },
  ]

  test.each([
    ['without a cascade, no expiry', null, undefined],
    ['by cascade, the ttl of the first step from the time it is sent', aCascade, 15],
  ])('for a dispatch %s', async (_, cascade, minutes) => {
    await aGateway(db.sql)
    const { companyId } = world
    const dispatch = {
      ...{ name: 'Sale', channelType: 'SMS' as const, senderName: 'sms_promo', text: 'A', centerId: null },
      ...{ partsPerSecond: null, options: {}, callbackUrl: null, callbackEvents: null, cascade },
    }
    const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now: clock() })
    const home = { companyId, dispatchId }
    const recipients = [{ destination: '79160000077' }]
    await addRecipients(db.sql, numbering, home, { recipients, linkBase, once: undefined })
    await startCreatedDispatch(db.sql, home, { billingZone, now: clock() })
    move(5 * MINUTE_MS)
    const operator = taking()
    await anEngine({ connect: operator.connect, clock })
    await eventually(() => expect(operator.handed.map(expiryOf)).toEqual([minutes]))
  })
})

describe('a free text by WhatsApp', () => {
  const [wroteLately, wroteLongAgo, neverWrote] = ['79160000071', '79160000072', '79160000073']
  const senderName = 'LANDYSH'

  test('is sent to a subscriber who wrote to us within 24 hours, and is unsent 456 for others', async () => {
    await setSwitches(db.sql, world.companyId, { inbound: true })
    await anApprovedSender(db.sql, world.companyId, { channelType: 'WHATSAPP', senderName })
    const gateway = { name: 'whatsapp', channelType: 'WHATSAPP', connector: 'whatsapp' } as const
    await aGateway(db.sql, { ...gateway, settings: { senderName } })
    const operator = taking()
    await anEngine({ connect: operator.connect, clock })
    const write = (from: string, agoMs: number) =>
      operator.feed().inbound({ from, to: senderName, text: 'Hello', receivedAt: later(-agoMs) })
    await write(wroteLately, 24 * HOUR_MS - 1000)
    await write(wroteLongAgo, 24 * HOUR_MS + 1000)

    const free = { channelType: 'WHATSAPP', senderName, content: { contentType: 'text', text: 'Hello' } } as const
    const template = { contentType: 'template', templateId: 'order_ready' } as const
    const uuids = await accept(
      ...[wroteLately, wroteLongAgo, neverWrote].map(destination => request({ ...free, destination })),
      request({ ...free, destination: neverWrote, content: template }),
    )
    await eventually(async () => {
      const fates = await Promise.all(uuids.map(async uuid => ({ ...(await rowOf(uuid)) })))
      expect(fates.map(({ status, errorCode }) => [status, errorCode])).toEqual([
        ['SENT', null],
        ['FAILED', 456],
        ['FAILED', 456],
        ['SENT', null],
      ])
    })
    expect(operator.handed.map(({ uuid }) => uuid).sort()).toEqual([uuids[0], uuids[3]].sort())
  })
})

test('each of two Telegram bots sends the messages under its own name, and no others', async () => {
  const names = ['shop_bot', 'bank_bot']
  const bots = new Map<string, ReturnType<typeof aChannel>>()
  for (const botName of names) {
    await aGateway(db.sql, { name: botName, channelType: 'TELEGRAM', connector: 'telegram', settings: { botName } })
    bots.set(botName, taking())
  }
  await anEngine({ connect: (gateway: Gateway, feed) => bots.get(gateway.name)!.connect(gateway, feed) })
  for (const senderName of names)
    await anApprovedSender(db.sql, world.companyId, { channelType: 'TELEGRAM', senderName, brand: 'MTS' })
  const content = { contentType: 'text', text: 'Hello' } as const
  const uuids = await accept(
    ...[...names, ...names].map(senderName => request({ channelType: 'TELEGRAM', senderName, content })),
  )
  await eventually(async () => {
    const rows = await db.sql`select from messages where message_uuid = any(${uuids}::uuid[]) and status = 'SENT'`
    expect(rows).toHaveLength(4)
  })
  for (const [name, { handed }] of bots) expect(handed.map(({ senderName }) => senderName)).toEqual([name, name])
})

test('a message fails with 456 and is not sent when the gateway of its name meanwhile lists only other companies', async () => {
  const content = { contentType: 'text', text: 'Hello' } as const
  const uuids = await accept(request({ channelType: 'TELEGRAM', senderName: 'harbour_bot', content })) // at this time the name belongs to no gateway
  const settings = { botName: 'harbour_bot' }
  const bot = { name: 'harbour', channelType: 'TELEGRAM', connector: 'telegram', settings } as const
  const { gatewayId } = await aGateway(db.sql, { ...bot, companies: [world.companyId + 1_000_000] })
  const operator = taking()
  await anEngine({ connect: operator.connect })
  await eventually(async () => expect(await rowOf(uuids[0]!)).toMatchObject({ status: 'FAILED', errorCode: 456 }))
  expect(operator.handed).toEqual([])
  await db.sql`update gateways set companies = ${[world.companyId]}::bigint[] where gateway_id = ${gatewayId}`
  const [allowed] = await accept(request({ channelType: 'TELEGRAM', senderName: 'harbour_bot', content }))
  await eventually(async () => expect(await rowOf(allowed!)).toMatchObject({ status: 'SENT' }))
})
