import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { verifyLedger } from '../../../domain/audit/verify.ts'
import { keyTypes } from '../../../domain/keys/key.ts'
import { verifyTraffic } from '../../../domain/statistics/verify.ts'
import { MOMENT, messageFields, messageRows, taken } from '../../../testing/conformance/messaging-messages.ts'
import {
  bodyMutations,
  type Mutation,
  noJsonLike,
  noTextsAt,
  otherContentTypes,
  without,
  withValue,
} from '../../../testing/conformance/mutations.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { aKey, type MessagingCall, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

/** `POST /message` in every channel and every field: a wrong field is refused by its name, and no row is written. */

const api = useMessagingApi()
let world: World
let key: string

beforeAll(async () => {
  api.now = MOMENT
  world = await aWorldOfAllChannels()
  key = (await aKey(api.sql, world.companyId)).key
})

async function aWorldOfAllChannels(given: Parameters<typeof aWorld>[1] = {}): Promise<World> {
  const made = await aWorld(api.sql, given)
  for (const channelType of ['VIBER', 'WHATSAPP'] as const) {
    await anApprovedSender(api.sql, made.companyId, { channelType, brand: 'MTS' })
  }
  return made
}

const json = { 'content-type': 'application/json' }
const call = (body: unknown, given: Partial<MessagingCall> = {}): MessagingCall => ({
  method: 'POST',
  path: '/message',
  key,
  body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  headers: json,
  ...given,
})
const post = (body: unknown, given: Partial<MessagingCall> = {}) => api.call(call(body, given))

const startingWith = (path: string) => new RegExp(`^${path.replaceAll(/[.[\]]/g, '\\$&')}(:|\\[|\\.)`)
const sms = messageRows[0]!.body
const accepted = { messageUuid: expect.stringMatching(/^[0-9a-f-]{36}$/), code: 201, externalMessageId: 'order-17' }

/** Checks that the action changes no table. */
async function leavingNoTrace(work: () => Promise<void>) {
  const before = await printOfTables(api.sql)
  await work()
  expect(await printOfTables(api.sql)).toEqual(before)
}

async function expectRefused(sent: MessagingCall, status: number, code: number, msg: string | RegExp = /./) {
  const answer = await api.call(sent)
  expect(answer.body).toEqual({ error: { code, msg: expect.stringMatching(msg) } })
  expect(answer.status).toBe(status)
}

describe.each(messageRows.map(row => [row.name, row] as const))('%s', (_, row) => {
  const fields = [...messageFields(row), ...row.fields]
  const byField = Map.groupBy(
    bodyMutations({ method: 'POST', path: '/message', status: 200, fields }),
    one => one.names,
  )
  const all = [...byField].map(([path, mutations]) => [path, mutations] as const)

  test('the good message is taken, alone and in an array', async () => {
    for (const body of [row.body, [row.body]]) {
      expect(await post(body)).toMatchObject({ status: 200, body: { errors: false, items: [accepted] } })
    }
  })

  const optional = fields.filter(field => !field.required && !field.path.includes(']'))
  test('optional fields may be left out, and unknown fields are ignored', async () => {
    const bodies: object[] = optional.map(({ path }) => without(row.body, path))
    const strange = { noSuchField: { deep: [1] }, constructor: 1, toString: 'x' }
    bodies.push({ ...row.body, ...strange })
    if (typeof row.body.content === 'object') bodies.push({ ...row.body, content: { ...row.body.content, ...strange } })
    const { status, body } = await post(bodies)
    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: false })
    expect(body.items).toHaveLength(bodies.length)
  })

  describe('alone, and no table changes', () => {
    let before: Record<string, string>
    beforeAll(async () => {
      before = await printOfTables(api.sql)
    })
    afterAll(async () => expect(await printOfTables(api.sql)).toEqual(before))

    test.each(all)('a wrong %s is 4000', async (path, mutations) => {
      for (const { body } of mutations) await expectRefused(call(body(row.body)), 400, 4000, startingWith(path))
    })
  })

  test('wrong ones among good ones are refused in their places, and the good ones are taken', async () => {
    const mutations: Mutation[] = [...byField.values()].map(ofField => ofField[0]!)
    const { status, body } = await post([row.body, ...mutations.flatMap(one => [one.body(row.body), row.body])])
    expect(status).toBe(200)
    expect(body.errors).toBe(true)
    expect(body.items[0]).toEqual(accepted)
    for (const [i, { names }] of mutations.entries()) {
      const item = body.items[2 * i + 1]
      expect(item).toMatchObject({ code: 400, error: { code: 4000, msg: expect.stringMatching(startingWith(names)) } })
      expect(item).not.toHaveProperty('messageUuid')
      expect(body.items[2 * i + 2]).toEqual(accepted)
    }
  })

  test('when all are wrong, so is the request', async () => {
    const wrong = [...byField.values()].map(ofField => ofField[0]!)
    await leavingNoTrace(() =>
      expectRefused(call(wrong.map(({ body }) => body(row.body))), 400, 4000, startingWith(wrong[0]!.names)),
    )
  })
})

describe('a value inside the bounds is accepted', () => {
  test.each(taken)('$row $path', async ({ row, path, values }) => {
    const good = messageRows.find(({ name }) => name === row)!.body
    const { status, body } = await post(values.map(value => withValue(good, path, value)))
    expect({ status, errors: body.errors, items: body.items }).toMatchObject({ status: 200, errors: false })
  })
})

describe('a content', () => {
  const contentOf = async (uuid: string) =>
    (await api.sql`select content from messages where company_id = ${world.companyId} and message_uuid = ${uuid}`)[0]!
      .content

  test('is stored without unknown fields', async () => {
    const viber = messageRows.find(({ name }) => name === 'VIBER')!.body
    const content = viber.content as { button: object }
    const strange = { ...content, junk: 'x', button: { ...content.button, junk: [] } }
    const { body } = await post({ ...viber, content: strange })
    expect(await contentOf(body.items[0].messageUuid)).toEqual(content)
  })

  test('is kept with the half of a button that is set', async () => {
    const whatsapp = messageRows.find(({ name }) => name === 'WHATSAPP text')!.body
    const buttons = [{ text: 'Call', url: null, phone: '+79160000000' }]
    const { body } = await post(withValue(whatsapp, 'content.buttons', buttons))
    expect(await contentOf(body.items[0].messageUuid)).toMatchObject({
      buttons: [{ text: 'Call', phone: '+79160000000' }],
    })
  })

  test('nested deeper than any message needs is refused, known or not', async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const bodyWith = (content: string) =>
      Buffer.from(JSON.stringify({ ...sms, content: 'MARK' }).replace('"MARK"', content))
    expect((await api.call(call(bodyWith(`{"text":"Hello","junk":${nested(30)}}`)))).status).toBe(200)
    const tooDeep = /^body: must be at most 32 levels deep$/
    await expectRefused(call(bodyWith(`{"text":"Hello","junk":${nested(31)}}`)), 400, 4000, tooDeep)
    await expectRefused(call(bodyWith(nested(200_000))), 400, 4000, tooDeep)
    const push = bodyWith(`{"text":"Hello","data":${nested(21)}}`)
      .toString()
      .replace('"SMS"', '"PUSH"')
    await expectRefused(call(Buffer.from(push)), 400, 4000, /^content\.data: /)
  })

  test.each([
    ['11 parts', 'x'.repeat(153 * 10 + 1)],
    ['11 parts in Cyrillic', 'ж'.repeat(67 * 10 + 1)],
  ])('of an SMS of %s is refused by an error code of messages, with the number of parts', async (_, content) => {
    const { status, body } = await post({ ...sms, content })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: { msg: 'content: the text has 11 parts, at most 10' } },
    })
    expect(body.error.code).toBeGreaterThan(7400)
  })
})

describe('a number', () => {
  test.each(['nobody', '12', '+', '7916000000', '7'.repeat(64), '79160000001x', '00000000000', '٧٩١٦٠٠٠٠٠٠١'])(
    '%s is 7401',
    async destination => {
      await leavingNoTrace(() => expectRefused(call({ ...sms, destination }), 400, 7401, /^destination: /))
    },
  )
})

describe('the body', () => {
  const good = JSON.stringify(sms)

  test.each([...noJsonLike(good), `[${good},]`])('refuses a body that is no JSON: %.20s', async text => {
    await expectRefused(call(Buffer.from(text)), 400, 4000, /^body: /)
  })

  test('refuses JSON that is no message, alone and in an array', async () => {
    for (const body of ['text', 5, true, null, [], [5], ['text'], [null], [[]], [[sms]]]) {
      await expectRefused(call(body), 400, 4000, /^body: /)
    }
    await expectRefused(call([{}]), 400, 4000, /^channelType: /)
  })

  test('refuses a missing and an empty one', async () => {
    const { body: _, ...none } = call(sms)
    await expectRefused(none, 400, 4000, /^body: /)
    await expectRefused(call(Buffer.alloc(0)), 400, 4000, /^body: /)
  })

  test('refuses another content type', async () => {
    for (const type of otherContentTypes) {
      await expectRefused(call(sms, { headers: { 'content-type': type } }), 400, 4000, /^Content-Type: /)
    }
  })

  test('takes 1 to 1000 messages', async () => {
    expect((await post(Array(1000).fill(sms))).body.items).toHaveLength(1000)
    await expectRefused(call(Array(1001).fill(sms)), 400, 4000, /^body: must have at most 1000 items$/)
  })

  test('refuses more than 16 MiB', async () => {
    await expectRefused(call({ ...sms, junk: 'x'.repeat(16 * 1024 * 1024) }), 413, 4130, /16 MiB/)
  })

  const texts = ['senderName', 'destination', 'content', 'externalMessageId', 'callbackUrl', 'tags[0]']
  test.each(texts)('refuses a NUL, half a surrogate pair and broken UTF-8 in %s', async path => {
    const { escaped, raw } = noTextsAt(sms, path)
    for (const body of escaped) await expectRefused(call(body), 400, 4000, startingWith(path))
    for (const body of raw) await expectRefused(call(body), 400, 4000, /^body: /)
  })
})

describe.each([
  ['/message', sms],
  ['/message/cascade', {}],
  ['/message/stop', { uuids: [] }],
])('POST %s', (path, body) => {
  const to = (given: Partial<MessagingCall>) => call(body, { path, ...given })
  const notAuthenticated = /^Not Authenticated$/

  test('without a key, or with an unknown key, is 4010, with any other mistake', async () => {
    for (const sent of [to({}), to({ body: 'no json' })]) {
      const { key: _, ...without } = sent
      await expectRefused(without, 401, 4010, notAuthenticated)
    }
    await expectRefused(to({ key: 'bm9ib2R5OnNlY3JldA==' }), 401, 4010, notAuthenticated)
  })

  test('with a header of no known form is 4012', async () => {
    const { key: _, ...sent } = to({ headers: { ...json, authorization: 'Token abc' } })
    await expectRefused(sent, 401, 4012, /^Bad credentials$/)
  })

  test('from an address outside the list is 4013', async () => {
    const { key: bound } = await aKey(api.sql, world.companyId, 'MESSAGE', { addresses: ['192.0.2.0/24'] })
    await expectRefused(to({ key: bound, address: '198.51.100.7' }), 401, 4013, /^IP not allowed$/)
  })

  test.each(keyTypes.filter(type => type !== 'MESSAGE'))('with a key of the type %s is 4030', async type => {
    const { key: other } = await aKey(api.sql, world.companyId, type)
    for (const sent of [to({ key: other }), to({ key: other, body: 'no json' })]) {
      await expectRefused(sent, 403, 4030, /^Access Denied$/)
    }
  })

  test.each(['PUT', 'PATCH', 'DELETE'] as const)('by %s is 4050', async method => {
    await expectRefused(to({ method }), 405, 4050)
  })

  test('is reached by all three spellings, with and without a slash at the end', async () => {
    for (const prefix of ['/api/v1', '/v1', '/api/v1/v1'] as const) {
      for (const spelt of [path, `${path}/`]) {
        const { status } = await api.call(
          to({ prefix, path: spelt, body: JSON.stringify(path === '/message' ? sms : {}) }),
        )
        expect(status).toBe(path === '/message' ? 200 : 400)
      }
    }
  })
})

describe('many at once', () => {
  test('of 200 requests with money for 100, exactly 100 are taken, and the books are exact', async () => {
    const plain = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numberOf.MTS, content: 'Hello' }
    const probe = await aWorldOfAllChannels()
    await post(plain, { key: (await aKey(api.sql, probe.companyId)).key })
    const [row] = await api.sql`select price from messages where company_id = ${probe.companyId}`
    const price = row!.price as bigint
    expect(price).toBeGreaterThan(0n)

    const limited = await aWorldOfAllChannels({ budget: String(Number(price * 100n) / Number(money('1'))) })
    const { key: own } = await aKey(api.sql, limited.companyId)
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(plain, { key: own })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(new Set(['402 4020']))

    const uuids = answers.flatMap(({ body }) => body.items ?? []).map(({ messageUuid }) => messageUuid)
    const kept =
      await api.sql`select message_uuid as uuid, seq from messages where company_id = ${limited.companyId} order by seq`
    expect(kept.map(({ uuid }) => uuid).toSorted()).toEqual(uuids.toSorted())
    expect(kept.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    const [account] = await api.sql`select reserved from accounts where company_id = ${limited.companyId}`
    expect(account!.reserved).toBe(price * 100n)
    expect(await verifyLedger(api.sql, { companyId: limited.companyId })).toEqual([])
    expect(await verifyTraffic(api.sql, { companyId: limited.companyId })).toEqual([])
  })

  test('a key that is deactivated while others are being let in is not let in by their question', async () => {
    const { key: own, keyId } = await aKey(api.sql, world.companyId)
    const others = Array.from({ length: 20 }, () => post(sms))
    await api.sql`update api_keys set active = false where key_id = ${keyId}`
    await expectRefused(call(sms, { key: own }), 401, 4010)
    expect((await Promise.all(others)).every(({ status }) => status === 200)).toBe(true)
  })
})

test('no request above caused an internal error', () => {
  expect(api.errors).toEqual([])
})
