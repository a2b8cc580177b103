import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../../domain/audit/verify.ts'
import { recordStatusReports } from '../../../domain/recording/recording.ts'
import { bodyMutations } from '../../../testing/conformance/mutations.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, billingZone, type World } from '../../../testing/world.ts'

/** `POST /message/stop`: what became of each, in the order given; nothing of others, and nothing that was handed over. */

const api = useMessagingApi()
let world: World
let key: string
let foreignKey: string

beforeAll(async () => {
  world = await aWorld(api.sql)
  key = (await aKey(api.sql, world.companyId)).key
  foreignKey = (await aKey(api.sql, (await aWorld(api.sql)).companyId)).key
})

const ask = (path: string, body: unknown, by = key) =>
  api.call({
    method: 'POST',
    path,
    key: by,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

const stop = async (...uuids: string[]) => (await ask('/message/stop', { uuids })).body

async function aMessage(by = key, given: object = {}): Promise<string> {
  const form = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numberOf.MTS, content: 'Hello', ...given }
  return (await ask('/message', form, by)).body.items[0].messageUuid
}

async function aCascade(): Promise<string> {
  const step = { channelType: 'VK', senderName: 'anyone', content: 'Hello' }
  const form = { destination: numberOf.MTS, cascade: [step, step] }
  return (await ask('/message/cascade', form)).body.items[0].messageUuid
}

const rowOf = async (uuid: string) =>
  (await api.sql`select status, error_code, lane_id as lane, seq from messages where message_uuid = ${uuid}`)[0]!

/** As the engine does when the operator has taken it. */
const handOver = (uuid: string) =>
  recordStatusReports(api.sql, world.companyId, [{ uuid, sentAt: new Date() }], { billingZone, now: new Date() })

/** As a worker holds it. */
async function takeInHand(uuid: string) {
  const { lane, seq } = await rowOf(uuid)
  await api.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
    values (${world.companyId}, ${lane}, ${seq}, ${seq + 1}, ${randomUUID()}, ${randomUUID()}, now() + interval '1 hour')`
}

describe('a message', () => {
  test('that no worker is sending is 200, becomes unsent, and its hold is released; again it is 403', async () => {
    const uuid = await aMessage()
    expect(await stop(uuid)).toEqual({ errors: false, items: [{ messageUuid: uuid, code: 200 }] })
    expect(await rowOf(uuid)).toMatchObject({ status: 'FAILED', errorCode: 454 })
    expect(await stop(uuid)).toEqual({ errors: true, items: [{ messageUuid: uuid, code: 403 }] })
    expect(await verifyLedger(api.sql, { companyId: world.companyId })).toEqual([])
  })

  test('that waits for its time is 200 and will not go', async () => {
    const tomorrow = new Date(Date.now() + 24 * 3600_000).toISOString().slice(0, 19).replace('T', ' ')
    const uuid = await aMessage(key, { localSendTime: tomorrow })
    expect((await stop(uuid)).items).toEqual([{ messageUuid: uuid, code: 200 }])
    expect(await rowOf(uuid)).toMatchObject({ status: 'FAILED', errorCode: 454 })
  })

  test('that a worker is sending is 202, which is no error, and the worker gets the stop request', async () => {
    const uuid = await aMessage()
    await takeInHand(uuid)
    expect(await stop(uuid)).toEqual({ errors: false, items: [{ messageUuid: uuid, code: 202 }] })
    expect((await rowOf(uuid)).status).toBe('CREATED')
    expect(await api.sql`select from stop_requests where message_uuid = ${uuid}`).toHaveLength(1)
  })

  test('that was handed over is 403 and stays as it is', async () => {
    const uuid = await aMessage()
    await handOver(uuid)
    const before = await rowOf(uuid)
    expect(await stop(uuid)).toEqual({ errors: true, items: [{ messageUuid: uuid, code: 403 }] })
    expect(await rowOf(uuid)).toEqual(before)
  })

  test('of another company, or with an unknown id, is 404 and stays unchanged', async () => {
    const theirs = await aMessage(foreignKey)
    const nobody = ['01980000-0000-7000-8000-000000000000', '00000000-0000-0000-0000-000000000000', randomUUID()]
    const before = await printOfTables(api.sql)
    const codes = [theirs, ...nobody].map(messageUuid => ({ messageUuid, code: 404 }))
    expect(await stop(theirs, ...nobody)).toEqual({ errors: true, items: codes })
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('asked for several times, in any spelling, is answered as often and stopped once', async () => {
    const [uuid, other] = [await aMessage(), await aMessage()]
    const asked = [uuid, other.toUpperCase(), uuid, uuid.toUpperCase()]
    expect(await stop(...asked)).toEqual({
      errors: false,
      items: asked.map(messageUuid => ({ messageUuid, code: 200 })),
    })
    expect(await verifyLedger(api.sql, { companyId: world.companyId })).toEqual([])
  })

  test('asked for twice at the same moment is stopped by one and too late for the other', async () => {
    const uuid = await aMessage()
    const answers = await Promise.all([stop(uuid), stop(uuid), stop(uuid)])
    expect(answers.map(({ items }) => items[0].code).toSorted()).toEqual([200, 403, 403])
    expect(await verifyLedger(api.sql, { companyId: world.companyId })).toEqual([])
  })
})

test('each of a mixed list has its own code, in the order given', async () => {
  const [waiting, sent, taken] = [await aMessage(), await aMessage(), await aMessage()]
  await handOver(sent)
  await takeInHand(taken)
  const body = await stop(sent, 'no uuid', waiting, '', taken)
  expect(body).toEqual({
    errors: true,
    items: [
      { messageUuid: sent, code: 403 },
      { messageUuid: 'no uuid', code: 404 },
      { messageUuid: waiting, code: 200 },
      { messageUuid: '', code: 404 },
      { messageUuid: taken, code: 202 },
    ],
  })
})

test('the first message of a cascade stands for all of it: 200 while a later step could still go', async () => {
  const waiting = await aCascade()
  expect((await stop(waiting)).items[0].code).toBe(200)
  expect((await rowOf(waiting)).status).toBe('FAILED')
  const sent = await aCascade()
  await handOver(sent)
  expect((await stop(sent)).items[0].code).toBe(200)
  expect((await rowOf(sent)).status).toBe('SENT')
  expect((await stop(sent)).items[0].code).toBe(403)
  expect(await api.sql`select from messages where cascade_uuid = any(${[waiting, sent]}::uuid[])`).toHaveLength(2)
})

describe('the body', () => {
  test('takes 10,000 ids and no more', async () => {
    const own = await aMessage()
    const uuids = [own, ...Array.from({ length: 9_999 }, () => randomUUID())]
    const body = await stop(...uuids)
    expect(body.items.map(({ messageUuid }: { messageUuid: string }) => messageUuid)).toEqual(uuids)
    expect(body.items[0].code).toBe(200)
    expect(new Set(body.items.slice(1).map(({ code }: { code: number }) => code))).toEqual(new Set([404]))
    expect(await ask('/message/stop', { uuids: [...uuids, own] })).toMatchObject({
      status: 400,
      body: { error: { code: 4000, msg: 'uuids: must have at most 10000 items' } },
    })
  })

  test('must be as described', async () => {
    const uuid = await aMessage()
    const fields = [
      { path: 'uuids', kind: 'array', required: true, refused: [[]] },
      { path: 'uuids[0]', kind: 'string', refused: ['x'.repeat(101)] },
    ] as const
    const before = await printOfTables(api.sql)
    for (const { names, body } of bodyMutations({
      method: 'POST',
      path: '/message/stop',
      status: 200,
      fields: [...fields],
    })) {
      const answer = await ask('/message/stop', body({ uuids: [uuid] }))
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 4000 } } })
      expect(answer.body.error.msg.startsWith(names)).toBe(true)
    }
    for (const body of [[], [uuid], 'text', 5, null]) {
      expect(await ask('/message/stop', body)).toMatchObject({ status: 400, body: { error: { code: 4000 } } })
    }
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('may have unknown fields', async () => {
    const uuid = await aMessage()
    const { body } = await ask('/message/stop', { uuids: [uuid], noSuchField: {} })
    expect(body).toEqual({ errors: false, items: [{ messageUuid: uuid, code: 200 }] })
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
