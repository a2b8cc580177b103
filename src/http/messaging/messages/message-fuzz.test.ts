import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../../domain/audit/verify.ts'
import { verifyTraffic } from '../../../domain/statistics/verify.ts'
import {
  anyBytes,
  anyHeader,
  anyJson,
  anyText,
  type BodyChange,
  changed,
  someChanges,
} from '../../../testing/conformance/arbitraries.ts'
import { expectCivil } from '../../../testing/conformance/civil.ts'
import { commonBody, MOMENT, messageRows } from '../../../testing/conformance/messaging-messages.ts'
import { anApprovedSender } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

/**
 * Every request to `/message`, `/message/cascade` and `/message/stop` gets an item for each message in its order, or
 * `{error}` with a 4xx; never a 5xx, never a word about our insides, and in the end the books are exact. A failure
 * prints its seed and the shrunk request: give them to `fc.assert` to see it again.
 */

const RUNS = 150
const limits = { numRuns: RUNS, interruptAfterTimeLimit: 8_000, endOnFailure: false }

const api = useMessagingApi()
let world: World
let key: string

beforeAll(async () => {
  api.now = MOMENT
  world = await aWorld(api.sql)
  for (const channelType of ['VIBER', 'WHATSAPP'] as const) {
    await anApprovedSender(api.sql, world.companyId, { channelType, brand: 'MTS' })
  }
  key = (await aKey(api.sql, world.companyId)).key
})

const forms = messageRows.map(({ body }) => body)
const step = { channelType: 'VK', senderName: 'anyone', content: { text: 'Hello' }, condition: 'not_read', ttl: 60 }
const last = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' }
const good: Record<string, object[]> = {
  '/message': forms,
  '/message/cascade': [{ ...commonBody, cascade: [step, step, last] }],
  '/message/stop': [{ uuids: ['0198c5a0-0000-7000-8000-000000000000', '0198c5a0-0000-7000-8000-000000000001'] }],
}
const path = fc.constantFrom(...Object.keys(good))
const sendingPath = fc.constantFrom('/message', '/message/cascade')

async function send(path: string, body: Buffer, headers: Record<string, string> = {}) {
  const seen = api.errors.length
  const answer = await api.call({
    method: 'POST',
    path,
    key,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  expectCivil(answer)
  expectItems(answer)
  expect(api.errors.slice(seen)).toEqual([])
  return answer
}

type Item = { code: number; messageUuid?: string; error?: { code: number; msg: string } }

/** Each item told of by itself. */
function expectItems({ status, body }: Awaited<ReturnType<typeof api.call>>) {
  if (status >= 300) return
  expect(body.errors).toBe((body.items as Item[]).some(({ code }) => code >= 400))
  for (const { error } of body.items as Item[]) if (error) expect(error.msg).toMatch(/^\S.*\S$/s)
}

const asJson = (value: unknown) => Buffer.from(JSON.stringify(value))
const oneOf = (list: object[], at: number) => list[at % list.length]!

test('good messages with something changed', () =>
  fc.assert(
    fc.asyncProperty(path, fc.nat(100), someChanges, async (path, at, wanted) => {
      await send(path, asJson(changed(oneOf(good[path]!, at), wanted)))
    }),
    { ...limits, numRuns: RUNS * 4 },
  ))

test('arrays of good, changed and any: an item for each, in its place', () => {
  const member = fc.oneof(
    fc.record({ at: fc.nat(100), wanted: fc.constant<BodyChange[]>([]) }),
    fc.record({ at: fc.nat(100), wanted: someChanges }),
    fc.record({ any: anyJson }),
  )
  return fc.assert(
    fc.asyncProperty(sendingPath, fc.array(member, { minLength: 1, maxLength: 12 }), async (path, members) => {
      const list = members.map(one => ('any' in one ? one.any : changed(oneOf(good[path]!, one.at), one.wanted)))
      const { status, body } = await send(path, asJson(list))
      const rightAt = members.flatMap((one, i) => ('any' in one || one.wanted.length > 0 ? [] : [i]))
      // Characters that PostgreSQL cannot store (a NUL, half a surrogate pair) make the whole body wrong, as broken UTF-8 does.
      const isText = !/has a character that is no text$/.test(body.error?.msg ?? '')
      if (rightAt.length > 0 && isText) expect(status).toBe(200)
      if (status !== 200) return
      expect(body.items).toHaveLength(list.length)
      for (const i of rightAt) expect(body.items[i]).toMatchObject({ code: 201, messageUuid: expect.any(String) })
    }),
    limits,
  )
})

test('any JSON at all', () =>
  fc.assert(
    fc.asyncProperty(path, anyJson, async (path, body) => {
      await send(path, asJson(body))
    }),
    limits,
  ))

test('any content for any channel', () => {
  const content = fc.oneof(
    anyJson,
    anyText.map(text => ({ contentType: 'text', text })),
    fc.record({ contentType: fc.constantFrom('text', 'template', 'tts', 'authentication', 'push'), text: anyJson }),
  )
  return fc.assert(
    fc.asyncProperty(fc.nat(100), content, async (at, content) => {
      await send('/message', asJson({ ...oneOf(forms, at), content }))
    }),
    { ...limits, numRuns: RUNS * 2 },
  )
})

test('any bytes with any content type', () => {
  const type = fc.oneof(
    anyHeader,
    fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/plain'),
  )
  return fc.assert(
    fc.asyncProperty(path, anyBytes, type, async (path, body, type) => {
      await send(path, body, { 'content-type': type })
    }),
    limits,
  )
})

test('any uuids to stop: an item for each', () => {
  const uuid = fc.oneof(
    fc.uuid(),
    anyText.filter(text => !text.includes('\0') && text.isWellFormed() && text.length < 100),
  )
  return fc.assert(
    fc.asyncProperty(fc.array(uuid, { minLength: 1, maxLength: 30 }), async uuids => {
      const { status, body } = await send('/message/stop', asJson({ uuids }))
      expect(status).toBe(200)
      expect(body).toEqual({ errors: true, items: uuids.map(messageUuid => ({ messageUuid, code: 404 })) })
    }),
    limits,
  )
})

test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
  'a field called %s is unknown in every place',
  async name => {
    const hostile = `{"${name}":{"channelType":"FAX","isAdmin":true,"toJSON":1},`
    for (const form of [...forms, ...good['/message/cascade']!]) {
      const where = 'cascade' in form ? '/message/cascade' : '/message'
      const text = JSON.stringify(form).replaceAll('{', hostile).replaceAll(',}', '}')
      const { status } = await send(where, Buffer.from(text))
      expect(status).toBe(200)
    }
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  },
)

test('texts of megabytes are refused where they stand', async () => {
  const huge = 'ж'.repeat(4_000_000)
  for (const field of ['senderName', 'destination', 'content', 'externalMessageId', 'callbackUrl', 'localSendTime']) {
    const { status, body } = await send('/message', asJson({ ...forms[0], [field]: huge }))
    expect({ status, msg: body.error.msg.length < 200 && body.error.msg.startsWith(field) }).toEqual({
      status: 400,
      msg: true,
    })
  }
})

test('lists of a million are no trouble', async () => {
  for (const field of ['hours', 'days', 'tags', 'callbackEvents']) {
    for (const value of [1, 'sent', null]) {
      await send('/message', asJson({ ...forms[0], [field]: Array(1_000_000).fill(value) }))
    }
  }
  await send('/message/cascade', asJson({ ...good['/message/cascade']![0], cascade: Array(100_000).fill(step) }))
})

test('after all of it the books are exact, and nothing was our fault', async () => {
  expect(await verifyLedger(api.sql, { companyId: world.companyId })).toEqual([])
  expect(await verifyTraffic(api.sql, { companyId: world.companyId })).toEqual([])
  expect(api.errors).toEqual([])
})
