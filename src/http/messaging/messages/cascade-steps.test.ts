import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { verifyLedger } from '../../../domain/audit/verify.ts'
import { addToBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { endDueLanes } from '../../../domain/dispatches/ending.ts'
import { loadNumbering, type Numbering } from '../../../domain/numbering/numbering.ts'
import type { StatusReport } from '../../../domain/receipts/status-report.ts'
import { recordStatusReports } from '../../../domain/recording/recording.ts'
import { suspendSender } from '../../../domain/senders/senders.ts'
import { verifyTraffic } from '../../../domain/statistics/verify.ts'
import { endStopped } from '../../../domain/stopping/stopping.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, billingZone, type World } from '../../../testing/world.ts'

/** What follows the first step of a cascade, of single ones and of dispatches, and what stops it. */

const api = useMessagingApi()
let numbering: Numbering
let world: World
let key: string

beforeAll(async () => {
  numbering = await loadNumbering(api.sql)
})

beforeEach(async () => {
  world = await aWorld(api.sql)
  await anApprovedSender(api.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
  key = (await aKey(api.sql, world.companyId)).key
  api.now = undefined
})

const post = (path: string, body?: unknown) =>
  api.call({
    method: 'POST',
    path,
    key,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
const get = async (path: string) => (await api.call({ method: 'GET', path, key })).body

const viber = { channelType: 'VIBER', senderName: 'ROMASHKA', content: 'Hello', ttl: 60 }
const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' }
const callbackUrl = 'https://client.example.com/hook'

async function aCascade(steps: object[], given: object = {}): Promise<string> {
  const { body } = await post('/message/cascade', { destination: numberOf.MTS, cascade: steps, callbackUrl, ...given })
  return body.items[0].messageUuid
}

const contextAt = (now: Date) => ({
  billingZone,
  now,
  cascades: { numbering: () => numbering, linkBase: 'http://localhost/s' },
})

const record = (statusReports: StatusReport[], now = new Date()) =>
  recordStatusReports(api.sql, world.companyId, statusReports, contextAt(now))

/** As the operator reports it. */
const fail = (uuids: string[], now = new Date()) =>
  record(
    uuids.map(uuid => ({ uuid, sentAt: now, final: { status: 'FAILED', at: now, errorCode: 601 } })),
    now,
  )

type Row = {
  uuid: string
  step: number
  channel: string
  destination: string
  status: string
  errorCode: number | null
  sendAt: Date | null
}

const stepsOf = (cascadeUuid: string) =>
  api.sql<Row[]>`
    select message_uuid as uuid, cascade_step as step, channel_type as channel, destination, status, error_code,
      send_at
    from messages where company_id = ${world.companyId} and cascade_uuid = ${cascadeUuid} order by cascade_step`

const fatesOf = async (cascadeUuid: string) =>
  (await stepsOf(cascadeUuid)).map(({ step, status, errorCode }) => [step, status, errorCode])

/** What its client is told of a message, in order. */
async function toldOf(uuid: string): Promise<unknown[]> {
  const rows = await api.sql<{ event: { kind: string; status?: string; errorCode?: number } }[]>`
    select e.event from callbacks c cross join lateral json_array_elements(c.events) with ordinality e (event, place)
    where c.company_id = ${world.companyId} and e.event ->> 'messageUuid' = ${uuid} order by c.callback_id, e.place`
  return rows.map(({ event }) => (event.status ? [event.status, event.errorCode ?? null] : event.kind))
}

/** As a worker holds it. */
async function takeInHand(uuid: string) {
  await api.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
    select company_id, lane_id, seq, seq + 1, ${randomUUID()}, ${randomUUID()}, now() + interval '1 hour'
    from messages where message_uuid = ${uuid}`
}

const giveBack = () => api.sql`update leases set worker = null, token = null where company_id = ${world.companyId}`
const booksDiffer = async () => [
  ...(await verifyLedger(api.sql, { companyId: world.companyId })),
  ...(await verifyTraffic(api.sql, { companyId: world.companyId })),
]
const reserved = async () =>
  (await api.sql`select reserved from accounts where company_id = ${world.companyId}`)[0]!.reserved

describe('a step that cannot go when its turn comes is kept as unsent and told, and the next one is tried', () => {
  const threeSteps = [viber, { ...sms, content: 'x'.repeat(1000), ttl: 60 }, { ...sms, senderName: 'sms_promo' }]

  test('because its name was suspended', async () => {
    const uuid = await aCascade(threeSteps)
    await suspendSender(api.sql, world.senders[0]!, undefined)
    await fail([uuid])
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 456],
      [3, 'CREATED', null],
    ])
    expect(await toldOf((await stepsOf(uuid))[1]!.uuid)).toEqual([['unsent', 456]])
    expect(await booksDiffer()).toEqual([])
  })

  test('because there is no money for it', async () => {
    const uuid = await aCascade(threeSteps)
    const [row] = await api.sql`select price from messages where message_uuid = ${uuid}`
    await api.sql`update companies set budget = ${api.sql.typed.money(row!.price + money('10'))} where company_id = ${world.companyId}`
    await fail([uuid])
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 402],
      [3, 'CREATED', null],
    ])
    expect(await toldOf((await stepsOf(uuid))[1]!.uuid)).toEqual([['unsent', 402]])
    expect(await booksDiffer()).toEqual([])
  })

  test('because the number went on the blacklist, which ends all of them', async () => {
    const uuid = await aCascade(threeSteps)
    await addToBlacklist(api.sql, world.companyId, numberOf.MTS, undefined)
    await fail([uuid])
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 7402],
      [3, 'FAILED', 7402],
    ])
    for (const { uuid: later } of (await stepsOf(uuid)).slice(1))
      expect(await toldOf(later)).toEqual([['unsent', 7402]])
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
  })

  test('under the number as it is dialled, however the client wrote it', async () => {
    const uuid = await aCascade([viber, sms], { destination: '7916 000-00-01\n' })
    await suspendSender(api.sql, world.senders[0]!, undefined)
    await fail([uuid])
    const [, second] = await stepsOf(uuid)
    expect(second).toMatchObject({ step: 2, destination: '79160000001', status: 'FAILED', errorCode: 456 })
    expect(await toldOf(second!.uuid)).toEqual([['unsent', 456]])
  })
})

describe('a stop', () => {
  const stop = async (uuid: string) => (await post('/message/stop', { uuids: [uuid] })).body.items[0].code
  const threeSteps = [viber, { ...sms, ttl: 60 }, sms]

  test('of a later step by its own uuid brings no next one', async () => {
    const uuid = await aCascade(threeSteps)
    await fail([uuid])
    const [, second] = await stepsOf(uuid)
    expect(await stop(second!.uuid)).toBe(200)
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 454],
    ])
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
  })

  test('of a cascade whose step a worker is sending ends the later steps, and that step if the worker returns it unsent', async () => {
    const uuid = await aCascade(threeSteps)
    await fail([uuid])
    const [, second] = await stepsOf(uuid)
    await takeInHand(second!.uuid)
    expect(await stop(uuid)).toBe(200) // the third will not come
    await endStopped(api.sql, contextAt(new Date()))
    expect((await stepsOf(uuid))[1]).toMatchObject({ status: 'CREATED' })
    expect(await stop(uuid)).toBe(202)
    await giveBack()
    await endStopped(api.sql, contextAt(new Date()))
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 454],
    ])
    expect(await api.sql`select from stop_requests where company_id = ${world.companyId}`).toEqual([])
    expect(await booksDiffer()).toEqual([])
  })

  test('leaves a step alone that was handed over meanwhile, and no other follows it', async () => {
    const uuid = await aCascade(threeSteps)
    await fail([uuid])
    const [, second] = await stepsOf(uuid)
    await takeInHand(second!.uuid)
    await stop(uuid)
    await record([{ uuid: second!.uuid, sentAt: new Date() }])
    await endStopped(api.sql, contextAt(new Date()))
    expect(await api.sql`select from stop_requests where company_id = ${world.companyId}`).toEqual([])
    await record([{ uuid: second!.uuid, final: { status: 'FAILED', at: new Date(), errorCode: 601 } }])
    expect(await fatesOf(uuid)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 601],
    ])
    expect(await booksDiffer()).toEqual([])
  })
})

/** At a time of tomorrow in Moscow. */
const tomorrow = new Date(Date.now() + 24 * 3600_000).toISOString().slice(0, 10)
const at = (time: string) => new Date(`${tomorrow}T${time}+03:00`)

test('hours and days are for every step, the time to go at for the first alone', async () => {
  api.now = at('08:00')
  const uuid = await aCascade([viber, sms], { hours: [9, 10], localSendTime: `${tomorrow} 09:30:00` })
  expect((await stepsOf(uuid))[0]!.sendAt).toEqual(at('09:30'))
  await fail([uuid], at('09:40'))
  expect((await stepsOf(uuid))[1]).toMatchObject({ status: 'CREATED', sendAt: null }) // at once: it is within the hours
  const late = await aCascade([viber, sms], { hours: [9, 10], localSendTime: `${tomorrow} 09:30:00` })
  await fail([late], at('20:00'))
  const nextMorning = new Date(at('09:00').getTime() + 24 * 3600_000)
  expect((await stepsOf(late))[1]).toMatchObject({ status: 'CREATED', sendAt: nextMorning })
})

describe('a dispatch by cascade', () => {
  const steps = [
    { ...viber, content: { contentType: 'text', text: 'Hello, {name}' } },
    { ...sms, content: 'Hi, {name}' },
  ]
  const anna = (destination: string) => ({ destination, substitutions: { name: 'Anna' } })

  async function aDispatch(destinations: string[], given: object = {}) {
    const { body } = await post('/dispatch', { name: 'Sale', cascade: steps, callbackUrl, ...given })
    const { dispatchId } = body
    const added = await post(`/dispatch/${dispatchId}/messages`, destinations.map(anna))
    const uuids: string[] = added.body.map(({ messageUuid }: { messageUuid: string }) => messageUuid)
    return { dispatchId: dispatchId as number, uuids }
  }

  const start = (dispatchId: number) => post(`/dispatch/${dispatchId}/start`)

  async function stop(dispatchId: number): Promise<number> {
    const headers = { authorization: `Bearer ${key}` }
    return (await api.app.inject({ method: 'POST', url: `/api/v1/dispatch/${dispatchId}/stop`, headers })).statusCode
  }

  const three = ['79160000011', '79160000012', '79160000013']

  test('shows its later steps as its own messages, while it counts its recipients', async () => {
    const { dispatchId, uuids } = await aDispatch(three)
    await start(dispatchId)
    await fail(uuids.slice(0, 2))
    const { total, items } = await get(`/message?dispatch_id=${dispatchId}`)
    expect(total).toBe(5)
    const shown = items.map((item: Record<string, unknown>) => [item.cascadeStep, item.dispatchId, item.sendingMethod])
    expect(shown).toEqual([2, 2, 1, 1, 1].map(step => [step, dispatchId, 'DISPATCH']))
    for (const filter of [
      'sending_method=DISPATCH',
      'dispatch=true',
      `destination=${three[0]}&dispatch_id=${dispatchId}`,
    ])
      expect((await get(`/message?${filter}`)).total).toBe(filter.startsWith('destination') ? 2 : 5)
    expect((await get('/message?sending_method=API')).total).toBe(0)
    expect(await get(`/message/${items[0].messageUuid}`)).toMatchObject({ dispatchId, sendingMethod: 'DISPATCH' })
    expect((await get(`/dispatch/${dispatchId}`)).messages).toMatchObject({ total: 3, undelivered: 2, sending: 1 })
  })

  test('shows what its first step says and how long it may try', async () => {
    const { dispatchId, uuids } = await aDispatch(three.slice(0, 1))
    await start(dispatchId)
    await fail(uuids)
    const [second, first] = (await get(`/message?dispatch_id=${dispatchId}`)).items
    expect(first).toMatchObject({
      content: 'Hello, Anna',
      specialContent: { contentType: 'text', text: 'Hello, Anna' },
      ttl: 60,
    })
    expect(second).toMatchObject({ content: 'Hi, Anna', specialContent: null, ttl: null })
  })

  describe('with placeholders beyond its texts', () => {
    const code = { contentType: 'authentication', code: '{verification_code}' }
    const button = { text: 'Order {id}', url: 'https://shop.example/orders/{id}' }
    const words = [
      { channelType: 'WHATSAPP', senderName: 'ROMASHKA', content: code },
      { ...viber, ttl: undefined, content: { contentType: 'text', text: 'Your order', button } },
    ]
    const to = (substitutions: object) => ({ destination: numberOf.MTS, substitutions })

    beforeEach(async () => {
      await anApprovedSender(api.sql, world.companyId, { channelType: 'WHATSAPP', brand: 'MTS' })
    })

    test('fills them for each recipient, and refuses a recipient without a value', async () => {
      const { body } = await post('/dispatch', { name: 'Orders', cascade: words })
      const added = await post(`/dispatch/${body.dispatchId}/messages`, [
        to({ verification_code: '1234', id: 17 }),
        to({ verification_code: '1234' }),
        to({ verification_code: '1'.repeat(16), id: 17 }),
        to({ verification_code: '1234', id: 'x'.repeat(25) }),
      ])
      expect(added.body.map(({ errorCode }: { errorCode?: number }) => errorCode)).toEqual([
        undefined,
        7404,
        7405,
        7405,
      ])
      await start(body.dispatchId)
      await fail([added.body[0].messageUuid])
      const shown: { cascadeStep: number | null }[] = (await get(`/message?dispatch_id=${body.dispatchId}`)).items
      expect(shown.filter(({ cascadeStep }) => cascadeStep !== null)).toMatchObject([
        {
          cascadeStep: 2,
          content: 'Your order',
          specialContent: {
            contentType: 'text',
            text: 'Your order',
            button: { text: 'Order 17', url: 'https://shop.example/orders/17' },
          },
        },
        { cascadeStep: 1, content: '1234', specialContent: { contentType: 'authentication', code: '1234' } },
      ])
    })

    test.each<[string, object]>([
      ['image: must be an http or https address', { image: 'https://shop.example/{id}.png' }],
      ['button.url: is required', { button: { text: 'Order {id}' } }],
      ['button.text: must have at most 10000 characters', { button: { ...button, text: `{id}${'x'.repeat(9_997)}` } }],
      ['button.text: must have at most 30 characters', { button: { ...button, text: 'x'.repeat(31) } }],
    ])('is held to its form at once: %s', async (reason, given) => {
      const content = { contentType: 'text', text: 'Order {id}', button, ...given }
      const { status, body } = await post('/dispatch', { name: 'Orders', cascade: [{ ...viber, content }, sms] })
      expect({ status, msg: body.error.msg }).toEqual({ status: 400, msg: `cascade[0].content.${reason}` })
    })

    test('ignores them in unknown fields', async () => {
      const content = { contentType: 'text', text: 'Order', title: `{id}${'x'.repeat(10_000)}` }
      const { body } = await post('/dispatch', { name: 'Orders', cascade: [{ ...viber, content }, sms] })
      const added = await post(`/dispatch/${body.dispatchId}/messages`, [{ destination: numberOf.MTS }])
      expect(added.body).toEqual([{ destination: numberOf.MTS, messageUuid: expect.any(String) }])
    })
  })

  test('refuses a recipient whose later step does not meet the rules of its channel', async () => {
    const { body } = await post('/dispatch', {
      name: 'Sale',
      cascade: [sms, { channelType: 'VK', senderName: 'shop', content: `${'x'.repeat(1600)} {name}` }],
    })
    const added = await post(`/dispatch/${body.dispatchId}/messages`, [
      { destination: numberOf.MTS },
      { destination: numberOf.BEELINE, substitutions: { name: 'x'.repeat(1000) } },
      anna(numberOf.TELE2),
    ])
    expect(added.body).toEqual([
      { destination: numberOf.MTS, errorCode: 7404 },
      { destination: numberOf.BEELINE, errorCode: 7405 },
      { destination: numberOf.TELE2, messageUuid: expect.any(String) },
    ])
  })

  test('that is stopped sends none of its later steps any more, though all of its first ones are through', async () => {
    api.now = at('09:30')
    const { dispatchId, uuids } = await aDispatch(three, { hours: [9] })
    await start(dispatchId)
    await fail(uuids, at('20:00'))
    expect((await get(`/dispatch/${dispatchId}`)).status).toBe('completed')
    expect((await stepsOf(uuids[0]!))[1]).toMatchObject({ status: 'CREATED', sendAt: expect.any(Date) })
    api.now = at('21:00')
    expect(await stop(dispatchId)).toBe(200)
    await endStopped(api.sql, contextAt(at('21:00')))
    for (const uuid of uuids) {
      expect((await fatesOf(uuid))[1]).toEqual([2, 'FAILED', 454])
      expect(await toldOf((await stepsOf(uuid))[1]!.uuid)).toContainEqual(['unsent', 454])
    }
    expect(await api.sql`select from stop_requests where company_id = ${world.companyId}`).toEqual([])
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
    expect(await stop(dispatchId)).toBe(403)
  })

  test('that is stopped while it is being sent brings no later step, with any result of the messages at the operator', async () => {
    const { dispatchId, uuids } = await aDispatch(three)
    const [sent, waiting, failed] = uuids as [string, string, string]
    await start(dispatchId)
    await record([{ uuid: sent, sentAt: new Date() }])
    await fail([failed])
    expect(await stop(dispatchId)).toBe(200)
    await endDueLanes(api.sql, new Date(), (_, ending, errorCode) =>
      record(ending.map(uuid => ({ uuid, refused: { at: new Date(), errorCode } }))),
    )
    await endStopped(api.sql, contextAt(new Date()))
    await record([{ uuid: sent, final: { status: 'FAILED', at: new Date(), errorCode: 601 } }])
    expect(await fatesOf(sent)).toEqual([[1, 'FAILED', 601]])
    expect(await fatesOf(waiting)).toEqual([[1, 'FAILED', 454]])
    expect(await fatesOf(failed)).toEqual([
      [1, 'FAILED', 601],
      [2, 'FAILED', 454],
    ])
    expect((await get(`/dispatch/${dispatchId}`)).status).toBe('completed')
    expect(await reserved()).toBe(0n)
    expect(await booksDiffer()).toEqual([])
  })

  test('that waits for reading can be stopped until the message is read, and a finished cascade cannot', async () => {
    const delivered = (uuid: string) => ({
      uuid,
      sentAt: new Date(),
      final: { status: 'DELIVERED' as const, at: new Date() },
    })
    const cascade = [{ ...steps[0], condition: 'not_read' }, steps[1]]
    const [open, read] = [await aDispatch(three, { cascade }), await aDispatch(three.slice(0, 1), { cascade })]
    for (const { dispatchId, uuids } of [open, read]) {
      await start(dispatchId)
      await record(uuids.map(delivered))
    }
    await record([{ uuid: read.uuids[0]!, read: { at: new Date() } }])
    expect(await stop(read.dispatchId)).toBe(403)
    expect(await stop(open.dispatchId)).toBe(200)
    expect(await stop(open.dispatchId)).toBe(403)
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
