import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/domain/gateways/gateway.ts'
import { changeGateway } from '../../src/domain/gateways/gateways.ts'
import { gatewayKey } from '../../src/domain/gateways/secrets.ts'
import type { CascadePlan, MessageRequest } from '../../src/domain/messages/single.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { recordStatusReports } from '../../src/domain/recording/recording.ts'
import { Intake } from '../../src/domain/singles/intake.ts'
import { stopMessages } from '../../src/domain/stopping/stopping.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, expectBooksInOrder, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { anApprovedSender } from '../../src/testing/factories.ts'
import { aWorld, billingZone, type World } from '../../src/testing/world.ts'

/** Single messages and cascades from acceptance to their end, with the callbacks that their clients get. */

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World
let server: Server
let url: string
let told: Record<string, unknown>[] = []
let shiftMs = 0
const clock = () => new Date(Date.now() + shiftMs)

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    told.push(...JSON.parse(body))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
})

afterAll(() => {
  server.close()
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  told = []
  shiftMs = 0
})

const request = (given: Partial<MessageRequest> = {}): MessageRequest => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: '79160000001',
  text: 'Hello',
  content: null,
  trafficType: null,
  externalId: null,
  centerId: null,
  method: 'API',
  options: {},
  callbackUrl: url,
  callbackEvents: ['sent', 'delivered', 'read', 'price'],
  ...given,
})

async function accept(...requests: MessageRequest[]): Promise<string[]> {
  const linkBase = 'http://localhost:8080/s'
  const intake = new Intake({ sql: db.sql, clock, numbering: () => numbering, billingZone, linkBase })
  const outcomes = await intake.accept(world.companyId, requests)
  return outcomes.map(outcome => {
    if (outcome.kind === 'refused') throw new Error(outcome.reason)
    return outcome.uuid
  })
}

const startOne = () => anEngine({ clock, callbacks: { allow: ['127.0.0.0/8'] } })

/** Pauses a gateway and waits until the engine uses the change. */
async function pauseGateway({ gatewayId }: Gateway) {
  const { version } = await changeGateway(db.sql, gatewayId, { paused: true }, settingRules)
  await eventually(async () => {
    const states = await db.sql`select version from gateway_states where gateway_id = ${gatewayId}`
    expect(states).toEqual([{ version }])
  })
}

const settingRules = { key: gatewayKey('a secret of the tests, 32 or longer'), secretNames: [], check: () => {} }

const rowOf = async (uuid: string) => (await db.sql`select * from messages where message_uuid = ${uuid}`)[0]!
const isStatus = (uuid: string, status: string, errorCode: number | null = null) =>
  eventually(async () => {
    const row = await rowOf(uuid)
    expect({ status: row.status, errorCode: row.errorCode }).toEqual({ status, errorCode })
  })
const eventsOf = (uuid: string) =>
  told.filter(event => event.message_uuid === uuid).map(({ callback_event, status }) => status ?? callback_event)

describe('a single message', () => {
  test('is sent, delivered and charged, and its client gets the callbacks in order', async () => {
    await aGateway(db.sql, {})
    await startOne()
    const [uuid] = await accept(request({ externalId: 'order-1' }))
    await isStatus(uuid!, 'DELIVERED')
    await eventually(() => expect(eventsOf(uuid!)).toEqual(['sent', 'delivered', 'price']))
    expect(told[0]).toEqual({
      message_uuid: uuid,
      channel_type: 'SMS',
      callback_event: 'sent',
      external_message_id: 'order-1',
      status: 'sent',
      status_time: expect.stringMatching(/Z$/),
    })
    expect(told[2]).toMatchObject({ callback_event: 'price', parts: 1, price: expect.any(Number), currency: 'RUB' })
    await expectBooksInOrder(db.sql, world)
  })

  test('is undelivered when the operator cannot deliver it, and unsent when the operator refuses it', async () => {
    await aGateway(db.sql, {})
    await startOne()
    const [lost, refused] = await accept(
      request({ destination: '79160000003' }),
      request({ destination: '79160000004' }),
    )
    await eventually(() => expect(eventsOf(lost!)).toEqual(['sent', 'undelivered', 'price']))
    await eventually(() => expect(eventsOf(refused!)).toEqual(['unsent', 'price']))
    await expectBooksInOrder(db.sql, world)
  })

  test('under an unregistered sender name is sent, too', async () => {
    await aGateway(db.sql, {})
    await startOne()
    const [uuid] = await accept(request({ senderName: 'sms_promo' }))
    await isStatus(uuid!, 'DELIVERED')
    const [handed] = await db.sql`select sender_name from simulator_outbox() where message_uuid = ${uuid!}`
    expect(handed!.senderName).toBe('sms_promo')
  })

  test('is unsent 453 when its lifetime ends while it waits, and undelivered 7060 when it ends after sending', async () => {
    const gateway = await aGateway(db.sql, {})
    await startOne()
    const [silent] = await accept(request({ destination: '79160000005', options: { ttl: 60 } }))
    await isStatus(silent!, 'SENT')
    await pauseGateway(gateway)
    const [waiting] = await accept(request({ options: { ttl: 60 } }))
    shiftMs = 61_000
    await isStatus(silent!, 'FAILED', 7060)
    await isStatus(waiting!, 'FAILED', 453)
    await eventually(() => expect(eventsOf(waiting!)).toEqual(['unsent', 'price']))
    await expectBooksInOrder(db.sql, world)
  })

  test('without a ttl fails after 25 hours, although its lane does not move', async () => {
    const [uuid] = await accept(request({ senderName: 'sms_promo' }), request({ senderName: 'sms_promo' }))
    await aGateway(db.sql, { paused: true })
    shiftMs = 25 * 3600_000 + 1000
    await startOne()
    await isStatus(uuid!, 'FAILED', 453)
    const [account] = await db.sql`select reserved from accounts where company_id = ${world.companyId}`
    expect(account!.reserved).toBe(0n)
    await expectBooksInOrder(db.sql, world)
  })

  test('with a start time is sent at that time', async () => {
    await aGateway(db.sql, {})
    await startOne()
    const inAnHour = new Date(Date.now() + 3600_000 + 3 * 3600_000).toISOString().slice(0, 19).replace('T', ' ')
    const [uuid] = await accept(request({ options: { localSendTime: inAnHour, useLocalTime: false } }))
    const [now] = await accept(request())
    await isStatus(now!, 'DELIVERED')
    expect((await rowOf(uuid!)).status).toBe('CREATED')
    shiftMs = 3601_000
    await isStatus(uuid!, 'DELIVERED')
    await expectBooksInOrder(db.sql, world)
  })

  const moscowTime = (ms: number) => new Date(ms + 3 * 3600_000).toISOString().slice(0, 19).replace('T', ' ')

  test('whose sending hours end while it waits is sent when they begin again', async () => {
    const { gatewayId } = await aGateway(db.sql, { paused: true })
    const hour = Number(moscowTime(Date.now()).slice(11, 13))
    const [uuid] = await accept(request({ options: { hours: [hour], useLocalTime: false } }))
    shiftMs = 3600_000
    await startOne()
    await db.sql`update gateways set paused = false where gateway_id = ${gatewayId}`
    const [other] = await accept(request())
    await isStatus(other!, 'DELIVERED')
    const [postponed] = await eventually(async () => {
      const rows = await db.sql`select due_at from leases where company_id = ${world.companyId} and worker is null`
      expect(rows).toHaveLength(1)
      return rows
    })
    expect(moscowTime(postponed!.dueAt.getTime()).slice(11)).toBe(`${String(hour).padStart(2, '0')}:00:00`)
    expect((await rowOf(uuid!)).status).toBe('CREATED')
    shiftMs = postponed!.dueAt.getTime() - Date.now() + 1000
    await isStatus(uuid!, 'DELIVERED')
    await expectBooksInOrder(db.sql, world)
  })

  test('is not sent after its completion, and messages that were sent before are not affected', async () => {
    const gateway = await aGateway(db.sql, {})
    await startOne()
    const options = { localCompletionTime: moscowTime(Date.now() + 600_000), useLocalTime: false }
    const [sent] = await accept(request({ destination: '79160000005', options }))
    await isStatus(sent!, 'SENT')
    await pauseGateway(gateway)
    const [waiting] = await accept(request({ options }))
    shiftMs = 601_000
    await isStatus(waiting!, 'FAILED', 453)
    await eventually(async () => {
      expect(
        await db.sql`select from message_timers where company_id = ${world.companyId} and kind = 'complete'`,
      ).toEqual([])
    })
    expect((await rowOf(sent!)).status).toBe('SENT')
  })

  test('causes a read event when it is read, and an unread event when its lifetime ends unread', async () => {
    await aGateway(db.sql, { channelType: 'VIBER' })
    await anApprovedSender(db.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
    await startOne()
    const [read, unread] = await accept(
      request({ channelType: 'VIBER', destination: '79160000008' }),
      request({ channelType: 'VIBER', destination: '79160000001', options: { ttl: 3600 } }),
    )
    await eventually(() => expect(eventsOf(read!)).toEqual(['sent', 'delivered', 'price', 'read']))
    await eventually(() => expect(eventsOf(unread!)).toEqual(['sent', 'delivered', 'price']))
    shiftMs = 3601_000
    await eventually(() => expect(eventsOf(unread!)).toEqual(['sent', 'delivered', 'price', 'unread']))
    expect((await rowOf(read!)).readAt).toEqual(expect.any(Date))
  })
})

describe('a stop request', () => {
  const stop = (...uuids: string[]) => stopMessages(db.sql, world.companyId, uuids, { billingZone, now: clock() })

  test('at the same time as a claim never stops a message that is submitted afterwards', async () => {
    await aGateway(db.sql, {})
    await startOne()
    for (let round = 0; round < 10; round++) {
      const uuids = await accept(...Array.from({ length: 20 }, () => request({ callbackUrl: null })))
      const outcomes = await stop(...uuids)
      await eventually(async () => {
        const open =
          await db.sql`select from messages where message_uuid = any(${uuids}::uuid[]) and status in ('CREATED', 'SENT')`
        expect(open).toHaveLength(0)
      })
      const stopped = outcomes.filter(({ outcome }) => outcome === 'stopped').map(({ uuid }) => uuid)
      expect(await db.sql`select from simulator_outbox() where message_uuid = any(${stopped}::uuid[])`).toHaveLength(0)
    }
    await expectBooksInOrder(db.sql, world)
  })

  test('for a leased message takes effect before the message is submitted', async () => {
    const [uuid] = await accept(request())
    await db.sql`insert into stop_requests (company_id, message_uuid) values (${world.companyId}, ${uuid!})`
    await aGateway(db.sql, {})
    await startOne()
    await isStatus(uuid!, 'FAILED', 454)
    expect(await db.sql`select from simulator_outbox() where message_uuid = ${uuid!}`).toHaveLength(0)
    await expectBooksInOrder(db.sql, world)
  })

  test('ends messages without a lease, and does not change messages that were submitted', async () => {
    const [waiting] = await accept(request())
    const nobody = '01980000-0000-7000-8000-000000000000'
    expect(await stop(waiting!, nobody)).toEqual([
      { uuid: waiting, outcome: 'stopped' },
      { uuid: nobody, outcome: 'unknown' },
    ])
    expect(await rowOf(waiting!)).toMatchObject({ status: 'FAILED', errorCode: 454 })
    expect(await stop(waiting!)).toEqual([{ uuid: waiting, outcome: 'too late' }])
    await aGateway(db.sql, {})
    await startOne()
    const [sent] = await accept(request())
    await isStatus(sent!, 'DELIVERED')
    expect(await stop(sent!)).toEqual([{ uuid: sent, outcome: 'too late' }])
    expect(await db.sql`select from simulator_outbox() where message_uuid = ${waiting!}`).toHaveLength(0)
    await expectBooksInOrder(db.sql, world)
  })
})

describe('a cascade', () => {
  beforeEach(async () => {
    await anApprovedSender(db.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
    for (const channelType of ['VIBER', 'SMS'] as const) await aGateway(db.sql, { name: channelType, channelType })
  })

  const cascade = (destination: string, condition: 'not_delivered' | 'not_read', ttlSeconds = 60): MessageRequest => {
    const plan: CascadePlan = [
      { request: request({ channelType: 'VIBER', destination, options: { ttl: ttlSeconds } }), condition, ttlSeconds },
      { request: request({ destination: '79160000001' }), condition: 'not_delivered', ttlSeconds: null },
    ]
    return { ...plan[0]!.request, cascade: { step: 1, plan } }
  }

  const stepsOf = (uuid: string) =>
    db.sql`select message_uuid as uuid, cascade_step, channel_type, status from messages where cascade_uuid = ${uuid} order by cascade_step`

  test('ends with the step that was delivered', async () => {
    await startOne()
    const [uuid] = await accept(cascade('79160000001', 'not_delivered'))
    await isStatus(uuid!, 'DELIVERED')
    shiftMs = 61_000
    await new Promise(resolve => setTimeout(resolve, 1000))
    expect(await stepsOf(uuid!)).toHaveLength(1)
    await expectBooksInOrder(db.sql, world)
  })

  test.each([
    ['failed', '79160000003'],
    ['was refused', '79160000004'],
  ])('continues at once when a step %s', async (_, destination) => {
    await startOne()
    const [uuid] = await accept(cascade(destination, 'not_delivered'))
    await eventually(async () => {
      expect((await stepsOf(uuid!)).map(({ channelType, status }) => [channelType, status])).toEqual([
        ['VIBER', 'FAILED'],
        ['SMS', 'DELIVERED'],
      ])
    })
    const [, second] = await stepsOf(uuid!)
    await eventually(() => expect(eventsOf(second!.uuid)).toEqual(['sent', 'delivered', 'price']))
    expect(told.find(({ message_uuid }) => message_uuid === second!.uuid)).toMatchObject({
      cascade_message_uuid: uuid,
      cascade_step: 2,
    })
    await expectBooksInOrder(db.sql, world)
  })

  test('continues when the time of a step ends without a receipt, and a late receipt changes nothing', async () => {
    await startOne()
    const [uuid] = await accept(cascade('79160000005', 'not_delivered'))
    await isStatus(uuid!, 'SENT')
    shiftMs = 61_000
    await isStatus(uuid!, 'FAILED', 7060)
    await eventually(async () => expect((await stepsOf(uuid!))[1]).toMatchObject({ status: 'DELIVERED' }))
    const [, second] = await stepsOf(uuid!)
    await eventually(() => expect(eventsOf(second!.uuid)).toEqual(['sent', 'delivered', 'price']))

    const before = await rowOf(uuid!)
    const late = { uuid: uuid!, final: { status: 'DELIVERED' as const, at: clock() }, read: { at: clock() } }
    expect(await recordStatusReports(db.sql, world.companyId, [late], { billingZone, now: clock() })).toEqual([])
    expect(await rowOf(uuid!)).toEqual(before)
    expect(await stepsOf(uuid!)).toHaveLength(2)
    const [third] = await accept(request())
    await eventually(() => expect(eventsOf(third!)).toContain('price'))
    expect(eventsOf(uuid!)).toEqual(['sent', 'undelivered', 'price'])
    await expectBooksInOrder(db.sql, world)
  })

  test('with the condition not_read continues when the message is not read, and ends when it is read', async () => {
    await startOne()
    const [read, unread] = await accept(cascade('79160000008', 'not_read'), cascade('79160000001', 'not_read'))
    await eventually(() => expect(eventsOf(read!)).toContain('read'))
    await isStatus(unread!, 'DELIVERED')
    shiftMs = 61_000
    await eventually(async () => expect(await stepsOf(unread!)).toHaveLength(2))
    expect(await stepsOf(read!)).toHaveLength(1)
    expect((await rowOf(unread!)).status).toBe('DELIVERED')
  })

  test('is stopped with its first message', async () => {
    await startOne()
    const [uuid] = await accept(cascade('79160000005', 'not_delivered'))
    await isStatus(uuid!, 'SENT')
    const outcomes = await stopMessages(db.sql, world.companyId, [uuid!], { billingZone, now: clock() })
    expect(outcomes).toEqual([{ uuid, outcome: 'stopped' }])
    shiftMs = 61_000
    await isStatus(uuid!, 'FAILED', 7060)
    expect(await stepsOf(uuid!)).toHaveLength(1)
  })
})
