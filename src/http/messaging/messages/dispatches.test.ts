import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { addToBlacklist } from '../../../domain/blacklist/blacklist.ts'
import { setBilling } from '../../../domain/ledger/ledger.ts'
import { suspendSender } from '../../../domain/senders/senders.ts'
import { approveTemplate } from '../../../domain/templates/moderation.ts'
import { createTemplate } from '../../../domain/templates/templates.ts'
import {
  cascadeDispatch,
  freeChannels,
  list,
  MOMENT,
  plainDispatch,
  recipients,
  taken,
} from '../../../testing/conformance/messaging-dispatch.ts'
import { asQuery, bodyMutations, queryMutations, withValue } from '../../../testing/conformance/mutations.ts'
import { useTraces } from '../../../testing/conformance/traces.ts'
import { aSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

const api = useMessagingApi()
let mine: World
let key: string
let foreignKey: string

beforeAll(async () => {
  mine = await aWorld(api.sql)
  key = (await aKey(api.sql, mine.companyId)).key
  foreignKey = (await aKey(api.sql, (await aWorld(api.sql)).companyId)).key
})

beforeEach(() => {
  api.now = new Date(MOMENT)
})

const json = { 'content-type': 'application/json' }
const post = (path: string, body?: unknown, headers: Record<string, string> = {}, as = key) =>
  api.call({
    method: 'POST',
    path,
    key: as,
    ...(body === undefined ? { headers } : { body: JSON.stringify(body), headers: { ...json, ...headers } }),
  })
const get = (path: string, as = key) => api.call({ method: 'GET', path, key: as })

/** A stop answers with no body at all, which the check of answers does not know. */
const stop = async (dispatchId: number, as = key) => {
  const { statusCode, body } = await api.app.inject({
    method: 'POST',
    url: `/api/v1/dispatch/${dispatchId}/stop`,
    headers: { authorization: `Bearer ${as}` },
  })
  return { status: statusCode, body: body === '' ? undefined : JSON.parse(body) }
}

const sale = { name: 'Sale', channelType: 'SMS', senderName: 'ROMASHKA', text: 'Hello, {name}' }

async function aDispatch(given: object = {}, as = key): Promise<number> {
  const { body, status } = await post('/dispatch', { ...sale, ...given }, {}, as)
  expect({ status, body }).toEqual({ status: 200, body: { dispatchId: expect.any(Number) } })
  return body.dispatchId
}

const anna = (destination: string) => ({ destination, substitutions: { name: 'Anna' } })
const refusal = (status: number, code: number, msg: unknown) => ({ status, body: { error: { code, msg } } })
const wrongStatus = refusal(403, 4031, 'Inappropriate dispatch status')

const only = ({ status, body }: { status: number; body: unknown }) => ({ status, body })

describe('every input', () => {
  let dispatchId: number
  const { expectNoTraceOf, mayChange } = useTraces(api)

  beforeAll(async () => {
    api.now = new Date(MOMENT)
    dispatchId = await aDispatch()
  })

  async function expectRefused(call: () => ReturnType<typeof post>, names: string) {
    await expectNoTraceOf(`a wrong ${names}`)
    const answer = await call()
    expect(answer.body).toEqual({ error: { code: 4000, msg: expect.any(String) } })
    expect(answer.body.error.msg).toMatch(new RegExp(`^${names.replaceAll(/[.[\]]/g, '\\$&')}(:|\\[|\\.)`))
    expect(answer.status).toBe(400)
  }

  const creating = [plainDispatch, cascadeDispatch].flatMap((endpoint, i) =>
    bodyMutations(endpoint).map(
      mutation => [i === 0 ? 'plain' : 'cascade', mutation.what, endpoint, mutation] as const,
    ),
  )

  test.each(creating)('POST /dispatch (%s): %s is 4000', async (_, _what, endpoint, mutation) => {
    await expectRefused(() => post('/dispatch', mutation.body(endpoint.body!(undefined as never))), mutation.names)
  })

  test.each(bodyMutations(recipients).map(mutation => [mutation.what, mutation] as const))(
    'POST /dispatch/{id}/messages: %s is 4000',
    async (_, mutation) => {
      const body = mutation.body(recipients.body!(undefined as never))
      await expectRefused(() => post(`/dispatch/${dispatchId}/messages`, body), mutation.names)
    },
  )

  test.each([[], 'text', 5, true, null])('POST /dispatch/{id}/messages: %j is 4000', async body => {
    await expectRefused(() => post(`/dispatch/${dispatchId}/messages`, body), 'body')
  })

  test.each(queryMutations(list).map(mutation => [mutation.what, mutation] as const))(
    'GET /dispatch%s is 4000',
    async (_, mutation) => {
      const query = mutation.query(list.query!(undefined as never))
      await expectRefused(() => get(`/dispatch${query}`), mutation.names)
    },
  )

  test.each(['channelType', 'senderName', 'text'])('%s beside a cascade is 4000', async field => {
    const body = cascadeDispatch.body!(undefined as never)
    const given = (plainDispatch.body!(undefined as never) as Record<string, unknown>)[field]
    await expectRefused(() => post('/dispatch', { ...body, [field]: given }), field)
  })

  const inside = taken.flatMap(({ path, values }) => values.map(value => [path, value] as const))

  test.each(inside)('%s %j is taken', async (path, value) => {
    await mayChange()
    const body = withValue(plainDispatch.body!(undefined as never), path, value)
    expect((await post('/dispatch', body)).status).toBe(200)
  })

  // With a text that each of them takes once it is filled in: a flash call is nothing but its four digits.
  test.each(freeChannels)('any name is taken for %s', async channelType => {
    await mayChange()
    const body = { ...sale, channelType, senderName: 'Any name', text: '{code}' }
    expect((await post('/dispatch', body)).status).toBe(200)
  })

  test('a list takes every status, and a page past the end is empty', async () => {
    for (const status of ['created', 'sending', 'stopped', 'completed']) {
      expect((await get(`/dispatch${asQuery([['status', status]])}`)).status).toBe(200)
    }
    expect((await get('/dispatch?page=1000000&per_page=1000')).body).toMatchObject({ items: [] })
  })

  test.each(['0', 'x', '1.5', '99999999999999999999', '-1'])('the dispatch %s is unknown', async id => {
    expect(only(await get(`/dispatch/${id}`))).toEqual(refusal(404, 4040, expect.any(String)))
  })
})

describe('the rate', () => {
  const perSecond = async (dispatchId: number) => {
    const [row] = await api.sql<{ rate: number }[]>`
      select parts_per_second as rate from dispatches where dispatch_id = ${dispatchId}`
    return row!.rate
  }

  test.each([
    [10_000, 'second', 10_000],
    [600_000, 'minute', 10_000],
    [36_000_000, 'hour', 10_000],
    [864_000_000, 'day', 10_000],
    [1, 'day', 1 / 86_400],
  ])('%i a %s is %f a second, and one more than the bound is 4000', async (rate, rateTerm, expected) => {
    expect(await perSecond(await aDispatch({ rate, rateTerm }))).toBeCloseTo(expected, 10)
    if (rate > 1)
      expect(only(await post('/dispatch', { ...sale, rate: rate + 1, rateTerm }))).toMatchObject({ status: 400 })
  })

  test('a number alone means that many a minute', async () => {
    expect(await perSecond(await aDispatch({ rateTerm: 120 }))).toBe(2)
    expect(await perSecond(await aDispatch({ rateTerm: 600_000 }))).toBe(10_000)
    expect(only(await post('/dispatch', { ...sale, rateTerm: 600_001 }))).toEqual(
      refusal(400, 4000, 'rateTerm: must be 1 to 600000 a minute'),
    )
  })

  test.each([
    [{ rate: 5 }, 'rateTerm: is required with rate'],
    [{ rateTerm: 'hour' }, 'rate: is required with rateTerm'],
    [{ rate: 5, rateTerm: 'week' }, 'rateTerm: must be one of second, minute, hour, day'],
    [{ rate: 5, rateTerm: 10 }, 'rate: must not stand beside a number in rateTerm'],
    [{ rateTerm: 0 }, 'rateTerm: must be 1 to 600000 a minute'],
  ])('%j is refused: %s', async (given, msg) => {
    expect(only(await post('/dispatch', { ...sale, ...given }))).toEqual(refusal(400, 4000, msg))
  })

  test('without one there is no limit', async () => {
    expect(await perSecond(await aDispatch())).toBeNull()
  })
})

describe('the name', () => {
  test('is every approved registration of it, the oldest of each operator', async () => {
    const dispatchId = await aDispatch()
    const [row] = await api.sql`select sender_ids, sender_name, api from dispatches where dispatch_id = ${dispatchId}`
    expect(row).toEqual({
      senderIds: mine.senders.map(({ senderId }) => senderId),
      senderName: 'ROMASHKA',
      api: 'messaging',
    })
  })

  test('that is in review, suspended or unknown is 4000', async () => {
    await aSender(api.sql, mine.companyId, { senderName: 'REVIEW' })
    expect(only(await post('/dispatch', { ...sale, senderName: 'REVIEW' }))).toEqual(
      refusal(400, 4000, 'senderName: REVIEW is not approved'),
    )
    const other = await aWorld(api.sql)
    const otherKey = (await aKey(api.sql, other.companyId)).key
    for (const sender of other.senders) await suspendSender(api.sql, sender, undefined)
    expect(only(await post('/dispatch', sale, {}, otherKey))).toEqual(
      refusal(400, 4000, 'senderName: ROMASHKA is suspended'),
    )
    expect(only(await post('/dispatch', { ...sale, channelType: 'VIBER' }))).toEqual(
      refusal(400, 4000, 'senderName: there is no name ROMASHKA for VIBER'),
    )
  })

  test('that is suspended after the creation takes no recipients and does not start', async () => {
    const other = await aWorld(api.sql)
    const otherKey = (await aKey(api.sql, other.companyId)).key
    const dispatchId = await aDispatch({}, otherKey)
    for (const sender of other.senders) await suspendSender(api.sql, sender, undefined)
    const suspended = refusal(400, 4000, 'senderName: ROMASHKA is suspended')
    expect(only(await post(`/dispatch/${dispatchId}/messages`, anna(numberOf.MTS), {}, otherKey))).toEqual(suspended)
    expect(only(await post(`/dispatch/${dispatchId}/start`, undefined, {}, otherKey))).toEqual(suspended)
  })

  test('a bad name of a later step is named by its path', async () => {
    const cascade = [
      { channelType: 'VK', senderName: 'Shop', content: 'Hello' },
      { channelType: 'WHATSAPP', senderName: 'UNKNOWN', content: { contentType: 'text', text: 'Hello' } },
    ]
    expect(only(await post('/dispatch', { name: 'Cascade', cascade }))).toEqual(
      refusal(400, 4000, 'cascade[1].senderName: there is no name UNKNOWN for WHATSAPP'),
    )
  })
})

describe('the text', () => {
  const unfit = [
    ['FLASHCALL', 'Any', 'Hello', 'must be 4 digits'],
    ['FLASHCALL', 'Any', '12345', 'must be 4 digits'],
    ['VOICECODE', 'voicecode', 'Your code is 12', 'must contain a code of 4 to 8 digits'],
    ['VK', 'Shop', 'x'.repeat(2049), 'must have at most 2048 characters'],
    ['TEXT_TO_SPEECH', '79160000001', 'x'.repeat(1001), 'must have at most 1000 characters'],
    ['TELEGRAM', 'Shop', 'x'.repeat(4097), 'must have at most 4096 characters'],
  ] as const

  test.each(unfit)('%s without placeholders is held to its channel at once: %s, %.20s', async (...given) => {
    const [channelType, senderName, text, reason] = given
    expect(only(await post('/dispatch', { ...sale, channelType, senderName, text }))).toEqual(
      refusal(400, 4000, `text: ${reason}`),
    )
  })

  const formOf = { FLASHCALL: '{code}', VOICECODE: { contentType: 'text', text: 'Your code is {code}' } }
  const names = { FLASHCALL: 'Any', VOICECODE: 'voicecode' }
  const codes = ['1234', '12345', '123', 'word']
  const taken = { FLASHCALL: [true, false, false, false], VOICECODE: [true, true, false, false] }

  test.each(['FLASHCALL', 'VOICECODE'] as const)(
    'with placeholders is held to %s for each recipient, in a cascade too',
    async channelType => {
      const content = formOf[channelType]
      const text = typeof content === 'string' ? content : content.text
      const senderName = names[channelType]
      const sms = { channelType: 'SMS', senderName: 'sms_promo', content: 'Hello' }
      const forms = [
        { ...sale, channelType, senderName, text },
        { name: 'Codes', cascade: [{ channelType, senderName, content }, sms] },
        { name: 'Codes later', cascade: [sms, { channelType, senderName, content }] },
      ]
      for (const form of forms) {
        const { body } = await post('/dispatch', form)
        const added = await post(
          `/dispatch/${body.dispatchId}/messages`,
          codes.map(code => ({ destination: numberOf.MTS, substitutions: { code } })),
        )
        expect(added.body).toEqual(
          taken[channelType].map(isTaken => ({
            destination: numberOf.MTS,
            ...(isTaken ? { messageUuid: expect.any(String) } : { errorCode: 7405 }),
          })),
        )
      }
    },
  )

  test('of a cascade without placeholders is held to its channel at once', async () => {
    const cascade = [
      { channelType: 'FLASHCALL', senderName: 'Any', content: 'Hello' },
      { channelType: 'SMS', senderName: 'sms_promo', content: 'Hello' },
    ]
    expect(only(await post('/dispatch', { name: 'Cascade', cascade }))).toEqual(
      refusal(400, 4000, expect.stringMatching(/^cascade\[0\]\.content: /)),
    )
  })

  test('of a cascade with placeholders has as many characters as any other', async () => {
    const step = (text: string) => ({
      channelType: 'TELEGRAM',
      senderName: 'Shop',
      content: { contentType: 'text', text },
    })
    const sms = { channelType: 'SMS', senderName: 'sms_promo', content: 'Hello' }
    const ask = (text: string) => post('/dispatch', { name: 'Cascade', cascade: [step(text), sms] })
    expect((await ask(`{name}${'x'.repeat(9_994)}`)).status).toBe(200)
    expect(only(await ask(`{name}${'x'.repeat(9_995)}`))).toEqual(
      refusal(400, 4000, 'cascade[0].content.text: must have at most 10000 characters'),
    )
  })
})

/** A dispatch takes `localCompletionTime`; the ttl of POST /message is no field of it, and ignored as unknown ones are. */
test('a ttl is not taken: messages show none', async () => {
  const dispatchId = await aDispatch({ text: 'Hello', ttl: 60 })
  await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS })
  expect((await get(`/message?dispatch_id=${dispatchId}`)).body.items).toMatchObject([{ ttl: null }])
})

test('without callbackEvents the end of each message is told', async () => {
  const dispatchId = await aDispatch({ text: 'Hello', callbackUrl: 'https://client.example.com/hook' })
  await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS })
  expect((await get(`/message?dispatch_id=${dispatchId}`)).body.items).toMatchObject([
    { callbackUrl: 'https://client.example.com/hook', callbackEvents: ['delivered'] },
  ])
})

test('messages show the template that their dispatch goes by, and are found by it', async () => {
  const shop = await aWorld(api.sql)
  const own = (await aKey(api.sql, shop.companyId)).key
  const now = new Date()
  const template = await api.sql.begin(sql =>
    createTemplate(
      sql,
      shop.companyId,
      {
        channelType: 'SMS',
        trafficType: 'SERVICE',
        pattern: 'Hello, %w',
        senderId: null,
        content: null,
        validFrom: new Date('2026-01-01T00:00:00Z'),
        validTo: null,
      },
      now,
    ),
  )
  const { templateId } = await approveTemplate(api.sql, template.templateId, now)
  const dispatchId = await aDispatch({}, own)
  const { body } = await post(`/dispatch/${dispatchId}/messages`, [anna(numberOf.MTS)], {}, own)
  const found = await get(`/message?template_id=${templateId}`, own)
  expect(found.body).toMatchObject({
    total: 1,
    items: [{ messageUuid: body[0].messageUuid, templateId, trafficType: 'SERVICE', dispatchId }],
  })
})

describe('recipients', () => {
  test('each is answered in its order: with its uuid, or with why not', async () => {
    await addToBlacklist(api.sql, mine.companyId, '79160000044', undefined)
    const dispatchId = await aDispatch()
    const { status, body } = await post(`/dispatch/${dispatchId}/messages`, [
      anna('+7 (916) 000-00-01'),
      anna('no number'),
      anna('79160000044'),
      { destination: numberOf.TELE2 },
      anna('4915112345678'),
      anna(numberOf.TELE2),
    ])
    expect(status).toBe(200)
    expect(body).toEqual([
      { destination: '79160000001', messageUuid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      { destination: 'no number', errorCode: 7401 },
      { destination: '79160000044', errorCode: 7402 },
      { destination: numberOf.TELE2, errorCode: 7404 },
      { destination: '4915112345678', errorCode: 7403 },
      { destination: numberOf.TELE2, messageUuid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ])
    expect((await get(`/dispatch/${dispatchId}`)).body).toMatchObject({
      base: 6,
      messages: { total: 6, delivered: 0, undelivered: 0, unsent: 4, sent: 0, sending: 2 },
      parts: { total: 2, delivered: 0, undelivered: 0, unsent: 0, sent: 0, sending: 2 },
    })
  })

  test('one object counts as an array of one, and null substitutions as none', async () => {
    const dispatchId = await aDispatch({ text: 'Hello' })
    const { body } = await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS, substitutions: null })
    expect(body).toEqual([{ destination: numberOf.MTS, messageUuid: expect.any(String) }])
  })

  test('100,001 are 4000', async () => {
    const dispatchId = await aDispatch({ text: 'Hello' })
    const many = Array.from({ length: 100_001 }, () => ({ destination: '7916' }))
    expect(only(await post(`/dispatch/${dispatchId}/messages`, many))).toEqual(
      refusal(400, 4000, 'body: must have at most 100000 items'),
    )
  })

  test('a repeated Idempotency-Key gets the same answer and adds nothing, in every later status of the messages', async () => {
    const dispatchId = await aDispatch()
    const ask = () =>
      post(`/dispatch/${dispatchId}/messages`, [anna(numberOf.MTS), anna('bad'), anna(numberOf.TELE2)], {
        'idempotency-key': 'once-1',
      })
    const first = await ask()
    await post(`/dispatch/${dispatchId}/start`)
    expect(await stop(dispatchId)).toEqual({ status: 200, body: undefined })
    await api.sql`
      update messages set status = 'FAILED', error_code = 454
      where dispatch_id = ${dispatchId} and lane_id is not null`
    expect(only(await ask())).toEqual(only(first))
    expect((await get(`/dispatch/${dispatchId}`)).body.base).toBe(3)
  })

  test('a repeated Idempotency-Key creates one dispatch', async () => {
    const ask = () => post('/dispatch', { ...sale, name: 'Once' }, { 'idempotency-key': 'once-2' })
    expect((await ask()).body).toEqual((await ask()).body)
  })

  test('links are shortened in each message for itself when the dispatch says so', async () => {
    const text = 'Hello: https://shop.example.com/sale?very=long&address=of-a-page'
    const dispatchId = await aDispatch({ text, shortUrl: true })
    await post(`/dispatch/${dispatchId}/messages`, [{ destination: numberOf.MTS }, { destination: numberOf.TELE2 }])
    const rows = await api.sql<{ text: string; code: string; url: string }[]>`
      select m.text, s.code, s.url from messages m join short_links s on s.message_uuid = m.message_uuid
      where m.dispatch_id = ${dispatchId} order by m.dispatch_position`
    expect(rows.map(row => row.text)).toEqual(rows.map(row => `Hello: http://localhost:8080/s/${row.code}`))
    expect(rows.map(row => row.url)).toEqual([text.slice(7), text.slice(7)])
    expect(new Set(rows.map(row => row.code)).size).toBe(2)
  })
})

describe('start and stop', () => {
  test('once each; before and after that 403', async () => {
    const dispatchId = await aDispatch({ text: 'Hello' })
    expect(await stop(dispatchId)).toEqual(wrongStatus)
    await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS })
    expect(only(await post(`/dispatch/${dispatchId}/start`))).toEqual({ status: 200, body: { dispatchId } })
    expect((await get(`/dispatch/${dispatchId}`)).body.status).toBe('sending')
    expect(only(await post(`/dispatch/${dispatchId}/start`))).toEqual(wrongStatus)
    expect(only(await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS }))).toEqual(wrongStatus)
    expect(await stop(dispatchId)).toEqual({ status: 200, body: undefined })
    expect((await get(`/dispatch/${dispatchId}`)).body.status).toBe('stopped')
    expect(await stop(dispatchId)).toEqual(wrongStatus)
    expect(only(await post(`/dispatch/${dispatchId}/start`))).toEqual(wrongStatus)
  })

  test('one without recipients is completed by its start', async () => {
    const dispatchId = await aDispatch()
    await post(`/dispatch/${dispatchId}/start`)
    expect((await get(`/dispatch/${dispatchId}`)).body.status).toBe('completed')
    expect(await stop(dispatchId)).toEqual(wrongStatus)
  })

  test('without money it is 402 and stays created', async () => {
    const world = await aWorld(api.sql)
    const poorKey = (await aKey(api.sql, world.companyId)).key
    await setBilling(api.sql, world.companyId, 'PREPAID')
    const dispatchId = await aDispatch({ text: 'Hello' }, poorKey)
    await post(`/dispatch/${dispatchId}/messages`, { destination: numberOf.MTS }, {}, poorKey)
    expect(only(await post(`/dispatch/${dispatchId}/start`, undefined, {}, poorKey))).toEqual(
      refusal(402, 4020, 'The balance of the company is too small'),
    )
    expect((await get(`/dispatch/${dispatchId}`, poorKey)).body.status).toBe('created')
    const [account] = await api.sql`select reserved from accounts where company_id = ${world.companyId}`
    expect(account).toEqual({ reserved: money('0') })
  })
})

describe('the dispatch object', () => {
  test('has these fields and no other, with the values of the request', async () => {
    const dispatchId = await aDispatch({
      localSendTime: '2026-07-02 10:00:00',
      localCompletionTime: '2026-07-03 10:00:00',
      useLocalTime: false,
    })
    const { body } = await get(`/dispatch/${dispatchId}`)
    const none = { total: 0, delivered: 0, undelivered: 0, unsent: 0, sent: 0, sending: 0 }
    expect(body).toEqual({
      dispatchId,
      dispatchName: 'Sale',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      localSendTime: '2026-07-02 10:00:00',
      localCompletionTime: '2026-07-03 10:00:00',
      useLocalTime: false,
      status: 'created',
      source: 'API',
      message: 'Hello, {name}',
      trafficCenterId: expect.any(Number),
      trafficCenterName: 'Default',
      base: 0,
      parts: none,
      messages: none,
    })
  })

  test('a list is newest first, by pages, and by status', async () => {
    const world = await aWorld(api.sql)
    const own = (await aKey(api.sql, world.companyId)).key
    const ids = [await aDispatch({}, own), await aDispatch({}, own), await aDispatch({}, own)]
    await post(`/dispatch/${ids[1]}/start`, undefined, {}, own)
    const shown = async (query: string) => {
      const { body } = await get(`/dispatch${query}`, own)
      return [body.total, body.items.map((item: { dispatchId: number }) => item.dispatchId)]
    }
    expect(await shown('')).toEqual([3, ids.toReversed()])
    expect(await shown('?page=2&per_page=2')).toEqual([3, [ids[0]]])
    expect(await shown('?status=created')).toEqual([2, [ids[2], ids[0]]])
    expect(await shown('?status=completed')).toEqual([1, [ids[1]]])
  })

  test('a dispatch of another company is unknown to every request', async () => {
    const dispatchId = await aDispatch({}, foreignKey)
    const unknown = refusal(404, 4040, 'Dispatch not found')
    expect(only(await get(`/dispatch/${dispatchId}`))).toEqual(unknown)
    expect(only(await post(`/dispatch/${dispatchId}/messages`, anna(numberOf.MTS)))).toEqual(unknown)
    expect(only(await post(`/dispatch/${dispatchId}/start`))).toEqual(unknown)
    expect(await stop(dispatchId)).toEqual(unknown)
    const { body } = await get('/dispatch?per_page=1000')
    expect(body.items.map((item: { dispatchId: number }) => item.dispatchId)).not.toContain(dispatchId)
  })
})

describe('with the partner API', () => {
  const partner = (method: 'GET' | 'POST', path: string, body?: object) =>
    api.app
      .inject({
        method,
        url: `/partner/v1${path}`,
        ...(body ? { payload: body } : {}),
        headers: { authorization: `Bearer ${mine.partner.token}` },
      })
      .then(answer => ({ status: answer.statusCode, body: answer.json() }))

  const partnerDispatch = () => ({
    companyId: mine.companyId,
    name: 'By the partner',
    senderIds: mine.senders.map(({ senderId }) => senderId),
    channelType: 'SMS',
    text: 'Hello',
    messages: [{ destination: numberOf.MTS }],
  })

  test('its dispatches are shown here, take recipients here and start here', async () => {
    const schedule = { startAt: '2026-07-01T10:00:00+05:00', hours: [1], days: [1] }
    const { body } = await partner('POST', '/dispatches', { ...partnerDispatch(), schedule })
    const { body: added } = await post(`/dispatch/${body.id}/messages`, { destination: numberOf.TELE2 })
    expect(added).toEqual([{ destination: numberOf.TELE2, messageUuid: expect.any(String) }])
    await post(`/dispatch/${body.id}/start`)
    expect((await get(`/dispatch/${body.id}`)).body).toMatchObject({
      dispatchName: 'By the partner',
      source: 'PARTNER',
      status: 'sending',
      localSendTime: '2026-07-01 08:00:00',
      useLocalTime: false,
      trafficCenterId: null,
      trafficCenterName: null,
      base: 2,
    })
    const { body: messages } = await get(`/message?dispatch_id=${body.id}`)
    const shown = { localSendTime: '2026-07-01 08:00:00', useLocalTime: false, hours: [1], days: [1] }
    expect(messages.items).toMatchObject([shown, shown])
    expect((await partner('GET', `/dispatches/${body.id}`)).body.status).toBe('STARTED')
  })

  test('links in texts are shortened too when the partner API adds recipients to a dispatch of the messaging API', async () => {
    const url = 'https://shop.example.com/sale?very=long&address=of-a-page'
    const dispatchId = await aDispatch({ text: `Hello: ${url}`, shortUrl: true })
    const messages = [{ destination: numberOf.MTS }]
    const { body } = await partner('POST', `/dispatches/${dispatchId}/messages`, { messages })
    const rows = await api.sql`
      select m.text, 'Hello: http://localhost:8080/s/' || s.code as short, s.url
      from messages m join short_links s on s.message_uuid = m.message_uuid where m.message_uuid = ${body.messages[0].messageUuid}`
    expect(rows).toEqual([{ text: rows[0]?.short, short: expect.any(String), url }])
  })

  test('ours are shown there, take messages there, and one stopped for good does not start again', async () => {
    const dispatchId = await aDispatch({ text: 'Hello', senderName: 'sms_promo' })
    const { body } = await partner('POST', `/dispatches/${dispatchId}/messages`, {
      messages: [{ destination: numberOf.MTS }],
    })
    expect(body.messages).toEqual([
      { destination: numberOf.MTS, messageUuid: expect.any(String), parts: 1, senderId: null },
    ])
    expect((await partner('POST', `/dispatches/${dispatchId}/start`)).body.status).toBe('STARTED')
    await stop(dispatchId)
    expect((await partner('GET', `/dispatches/${dispatchId}`)).body).toMatchObject({
      status: 'STOPPED',
      messages: { total: 1, pending: 1 },
    })
    expect(await partner('POST', `/dispatches/${dispatchId}/start`)).toEqual(
      refusal(400, 4000, 'The dispatch was stopped for good and cannot be started'),
    )
  })
})

test('the recipients of a cascade are its first step, each a cascade of its own', async () => {
  const cascade = [
    { channelType: 'VK', senderName: 'Shop', content: 'Hello, {name}', condition: 'not_read', ttl: 600 },
    { channelType: 'SMS', senderName: 'sms_promo', content: 'Hello again' },
  ]
  const { body } = await post('/dispatch', { name: 'Cascade', cascade })
  await post(`/dispatch/${body.dispatchId}/messages`, [anna(numberOf.MTS), { destination: numberOf.TELE2 }])
  expect((await get(`/dispatch/${body.dispatchId}`)).body.message).toBe('Hello, {name}')
  const messages = await api.sql`
    select text, cascade_step, cascade_uuid = message_uuid as own from messages
    where dispatch_id = ${body.dispatchId} order by dispatch_position`
  expect(messages).toEqual([
    { text: 'Hello, Anna', cascadeStep: 1, own: true },
    { text: null, cascadeStep: null, own: null },
  ])
  const [row] = await api.sql`
    select channel_type, sender_name, cascade from dispatches where dispatch_id = ${body.dispatchId}`
  expect(row).toEqual({
    channelType: 'VK',
    senderName: 'Shop',
    cascade: [
      { channelType: 'VK', senderName: 'Shop', text: 'Hello, {name}', content: null, condition: 'not_read', ttl: 600 },
      { channelType: 'SMS', senderName: 'sms_promo', text: 'Hello again', content: null, condition: null, ttl: null },
    ],
  })
})
