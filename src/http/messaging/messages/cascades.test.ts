import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { suspendSender } from '../../../domain/senders/senders.ts'
import {
  cascadeBody,
  cascadeFields,
  cascadeSteps,
  commonFields,
  MOMENT,
} from '../../../testing/conformance/messaging-messages.ts'
import { bodyMutations, without, withValue } from '../../../testing/conformance/mutations.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { anApprovedSender, aSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

/** `POST /message/cascade`: what it takes, and that all of its steps are looked at before the first one goes. */

const api = useMessagingApi()
let world: World
let key: string

beforeAll(() => {
  api.now = MOMENT
})

beforeEach(async () => {
  world = await aWorld(api.sql)
  await anApprovedSender(api.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
  key = (await aKey(api.sql, world.companyId)).key
})

const { viber, vk, last } = cascadeSteps
const good = cascadeBody
const accepted = { messageUuid: expect.any(String), code: 201, externalMessageId: 'order-17' }

const post = (body: unknown) =>
  api.call({
    method: 'POST',
    path: '/message/cascade',
    key,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

async function expectRefused(body: unknown, msg: RegExp | string, code = 4000) {
  const answer = await post(body)
  expect(answer.body).toEqual({ error: { code, msg: expect.stringMatching(msg) } })
  expect(answer.status).toBe(400)
}

const startingWith = (path: string) => new RegExp(`^${path.replaceAll(/[.[\]]/g, '\\$&')}(:|\\[|\\.)`)
const steps = async () =>
  await api.sql`select cascade_uuid, steps, next_step from cascades where company_id = ${world.companyId}`

describe('every input', () => {
  const fields = [...commonFields, ...cascadeFields]
  const described = { method: 'POST', path: '/message/cascade', status: 200, fields } as const
  const byField = Map.groupBy(bodyMutations(described), ({ names }) => names)

  test.each([...byField])('a wrong %s is 4000', async (path, mutations) => {
    const before = await printOfTables(api.sql)
    for (const { body } of mutations) await expectRefused(body(good), startingWith(path))
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('wrong ones among good ones are refused in their places', async () => {
    const wrong = [...byField.values()].map(ofField => ofField[0]!)
    const { status, body } = await post([good, ...wrong.flatMap(one => [one.body(good), good])])
    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: true })
    for (const [i, { names }] of wrong.entries()) {
      expect(body.items[2 * i + 1]).toMatchObject({
        code: 400,
        error: { code: 4000, msg: expect.stringMatching(startingWith(names)) },
      })
      expect(body.items[2 * i + 2]).toEqual(accepted)
    }
    expect(await steps()).toHaveLength(wrong.length + 1)
  })

  test('the optional may be left out, the unknown is ignored', async () => {
    const optional = fields.filter(({ path, required }) => !required && !path.endsWith(']'))
    const bodies = [
      ...optional.map(({ path }) => without(good, path)),
      { ...good, noSuchField: 1 },
      withValue(good, 'cascade[1].noSuchField', { deep: [1] }),
    ]
    expect(await post(bodies)).toMatchObject({ status: 200, body: { errors: false } })
  })

  test.each([2, 10])('%i steps are taken', async count => {
    const { status, body } = await post({ ...good, cascade: [...Array(count - 1).fill(vk), last] })
    expect({ status, body }).toEqual({ status: 200, body: { errors: false, items: [accepted] } })
  })

  test('an array of 1 to 1000, and nothing else', async () => {
    expect((await post([good, good])).body.items).toEqual([accepted, accepted])
    for (const body of [[], 'text', null, 5, [5], [[good]]]) await expectRefused(body, /^body: /)
    await expectRefused(Array(1001).fill({}), /^body: must have at most 1000 items$/)
  })
})

describe('a later step', () => {
  const withLast = (step: object) => ({ ...good, cascade: [viber, { ...vk, ttl: null }, { ...last, ...step }] })

  test('whose name cannot be used is refused while the client can be told, by its place', async () => {
    await aSender(api.sql, world.companyId, { senderName: 'FRESH' })
    const mine = await anApprovedSender(api.sql, world.companyId, { senderName: 'MINE' })
    await suspendSender(api.sql, mine, undefined)
    await anApprovedSender(api.sql, world.companyId, { senderName: 'ELSE', brand: 'TELE2' })
    const refusals = [
      ['UNKNOWN', 'there is no name UNKNOWN for SMS'],
      ['FRESH', 'FRESH is not approved'],
      ['MINE', 'MINE is suspended'],
      ['ELSE', "ELSE is not registered with the recipient's operator, MTS"],
    ] as const
    for (const [senderName, why] of refusals) {
      await expectRefused(withLast({ senderName }), new RegExp(`^cascade\\[2\\]\\.senderName: ${why}$`))
    }
    expect(await steps()).toEqual([])
  })

  test('whose text is too long is refused by its place too', async () => {
    await expectRefused(withLast({ content: 'x'.repeat(2000) }), /^cascade\[2\]\.content: /, 7405)
  })

  test('that its channel does not take is refused by its place', async () => {
    const voice = { channelType: 'VOICECODE', senderName: 'voicecode', content: { contentType: 'text', text: 'none' } }
    await expectRefused(withLast(voice), /^cascade\[2\]\.content\.text: must contain a code/)
    await expectRefused(withLast({ ...voice, senderName: 'other' }), /^cascade\[2\]\.senderName: must be voicecode$/)
  })

  test('may go a shorter time when it is a call', async () => {
    const call = { channelType: 'FLASHCALL', senderName: 'x', content: '1234', ttl: 30 }
    expect((await post({ ...good, cascade: [call, last] })).status).toBe(200)
    await expectRefused({ ...good, cascade: [{ ...vk, ttl: 59 }, last] }, /^cascade\[0\]\.ttl: must be 60 to 86400$/)
  })
})

describe('the first step', () => {
  test('is refused by its place for its name, and by its own name for what belongs to the whole', async () => {
    await expectRefused(withValue(good, 'cascade[0].senderName', 'NOBODY'), /^cascade\[0\]\.senderName: /)
    await expectRefused({ ...good, destination: 'nobody' }, /^destination: /, 7401)
    await expectRefused({ ...good, localSendTime: '2026-08-01 00:00:00' }, /^localSendTime: /)
  })

  test('is the message of the answer, and the only message that is written', async () => {
    const { body } = await post({ ...good, localSendTime: null, hours: null, days: null })
    const rows = await api.sql`
      select message_uuid as uuid, channel_type, cascade_uuid, cascade_step from messages where company_id = ${world.companyId}`
    const uuid = body.items[0].messageUuid
    expect(rows).toEqual([{ uuid, channelType: 'VIBER', cascadeUuid: uuid, cascadeStep: 1 }])
    const [plan] = await steps()
    expect(plan).toMatchObject({
      cascadeUuid: uuid,
      nextStep: 2,
      steps: [
        { condition: 'not_read', ttlSeconds: 60 },
        { condition: 'not_delivered', ttlSeconds: 3600 },
        { ttlSeconds: null, request: { channelType: 'SMS', destination: numberOf.MTS, text: 'Hello' } },
      ],
    })
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
