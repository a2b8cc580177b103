import { beforeAll, describe, expect, test } from 'vitest'
import { aMessagingSide, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { type MessagingCall, useMessagingApi } from '../../../testing/messaging-api.ts'

/** `Idempotency-Key` on every creating POST; what each resource does with it besides is in its own file. */

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
  await anApprovedSender(api.sql, side.companyId, { brand: 'MTS' })
})

type Row = {
  path: string
  keyType: 'MESSAGE' | 'ENTITY' | 'VERIFIER'
  body(side: MessagingSide): object
  other: object
}

const cascade = [
  { channelType: 'VK', senderName: 'anyone', content: 'Hello' },
  { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' },
]
const rows: Row[] = [
  {
    path: '/message',
    keyType: 'MESSAGE',
    body: () => ({ channelType: 'SMS', senderName: 'ROMASHKA', destination: numberOf.MTS, content: 'Hello' }),
    other: { content: 'Bye' },
  },
  {
    path: '/message/cascade',
    keyType: 'MESSAGE',
    body: () => ({ destination: numberOf.MTS, cascade }),
    other: { destination: numberOf.TELE2 },
  },
  {
    path: '/dispatch',
    keyType: 'MESSAGE',
    body: () => ({ name: 'Sale', channelType: 'SMS', senderName: 'ROMASHKA', text: 'Hello' }),
    other: { name: 'Another' },
  },
  {
    path: '/subscribers',
    keyType: 'MESSAGE',
    body: () => ({
      channelType: 'TELEGRAM',
      senderName: 'romashka_bot',
      subscribers: [{ destination: numberOf.MTS, externalId: '5001' }],
    }),
    other: { senderName: 'another_bot' },
  },
  {
    path: '/verifier/send',
    keyType: 'VERIFIER',
    body: ({ gatewayId }) => ({ channelType: 'SMS', destination: numberOf.MTS, gatewayId }),
    other: { destination: numberOf.TELE2 },
  },
  {
    path: '/flashcall-conversion',
    keyType: 'MESSAGE',
    body: ({ flashcallUuid }) => ({ messageUuid: flashcallUuid, result: 'WRONG_CODE' }),
    other: { result: 'NUMBER_VERIFIED' },
  },
  {
    path: '/sender-names',
    keyType: 'ENTITY',
    body: () => ({
      senderName: 'VASILEK',
      channelType: 'SMS',
      commonType: 'COMMON',
      brand: 'MTS',
      dateFrom: '2026-01-01T00:00:00Z',
    }),
    other: { brand: 'TELE2' },
  },
  {
    path: '/templates',
    keyType: 'ENTITY',
    body: () => ({ channelType: 'SMS', templateType: 'SERVICE', pattern: 'Order %d' }),
    other: { pattern: 'Order %w' },
  },
]

describe.each(rows)('POST $path', ({ path, keyType, body, other }) => {
  const post = (change: object, given: Partial<MessagingCall> = {}) =>
    api.call({
      method: 'POST',
      path,
      key: side.keys[keyType],
      body: { ...body(side), ...change },
      headers: { 'idempotency-key': `once ${path}` },
      ...given,
    })

  test('the same key gets the first answer again, however the address is spelt, and does nothing', async () => {
    const first = await post({})
    expect(first.body).not.toHaveProperty('error')
    const after = await printOfTables(api.sql)
    for (const prefix of ['/api/v1', '/v1', '/api/v1/v1'] as const) {
      for (const spelt of [path, `${path}/`]) {
        const { status, body: again } = await post({}, { prefix, path: spelt })
        expect({ status, again }).toEqual({ status: first.status, again: first.body })
      }
    }
    expect(await printOfTables(api.sql)).toEqual(after)
  })

  test('the same key with another body is 422, and does nothing', async () => {
    const before = await printOfTables(api.sql)
    const { status, body: answer } = await post(other)
    expect([status, answer.error.code]).toEqual([422, 4220])
    expect(await printOfTables(api.sql)).toEqual(before)
  })
})

test('the same key on another address is 422, though the body is the same', async () => {
  const made = await Promise.all(
    [1, 2].map(() =>
      api.call({
        method: 'POST',
        path: '/dispatch',
        key: side.keys.MESSAGE,
        body: { name: 'Two', channelType: 'SMS', senderName: 'ROMASHKA', text: 'Hello' },
      }),
    ),
  )
  const append = (dispatchId: number) =>
    api.call({
      method: 'POST',
      path: `/dispatch/${dispatchId}/messages`,
      key: side.keys.MESSAGE,
      body: [{ destination: numberOf.MTS }],
      headers: { 'idempotency-key': 'recipients' },
    })
  const [first, second] = made.map(({ body }) => body.dispatchId as number)
  expect((await append(first!)).status).toBe(200)
  expect((await append(second!)).status).toBe(422)
})
