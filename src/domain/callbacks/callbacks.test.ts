import { createHmac } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuid7, uuid7Batch } from '../../base/uuid7.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner, type TestPartner } from '../../testing/factories.ts'
import {
  type CallbackBatch,
  partnerBody,
  receiverOf,
  requestIdOf,
  type StatusEvent,
  withoutPassword,
} from './callback.ts'
import {
  enqueueCallbacks,
  expireCallbacks,
  forgetOldCallbacks,
  listCallbacks,
  nextBatches,
  releaseReceiver,
  replayCallback,
} from './callbacks.ts'
import { claimReceivers, findDueReceivers, renewReceivers } from './receivers.ts'
import { callbackKey, callbackSecretOf, replaceCallbackSecret, sealPlainSecrets } from './secrets.ts'
import { makeSecret, signerOf } from './signature.ts'

const db = useDatabase()
const url = 'https://user:pass%20word@hooks.example/path?x=1'
const receiver = 'https://hooks.example'
const anEvent = (messageUuid = uuid7(new Date())): StatusEvent => ({
  event: 'delivered',
  messageUuid,
  destination: '79160000001',
  at: new Date('2026-03-01T10:00:00Z'),
})

const enqueue = (companyId: number, batches: { url: string; events: StatusEvent[] }[], now = new Date()) =>
  db.sql.begin(sql => {
    const events = batches.flatMap(batch => batch.events.map(event => ({ url: batch.url, event })))
    return enqueueCallbacks(sql, companyId, events, now)
  })

let partner: TestPartner
let companyId: number
beforeAll(async () => {
  partner = await aPartner(db.sql)
})
beforeEach(async () => {
  await db.sql`delete from callbacks`
  await db.sql`delete from receivers`
  companyId = await aCompany(db.sql, partner)
})

describe('a callback request', () => {
  const event = { messageUuid: 'm', destination: '79160000001', at: '2026-03-01T10:00:00.000Z' }

  test('has the fields of its event: delivered, sent or failed', () => {
    expect(JSON.parse(partnerBody({ ...event, event: 'delivered' }))).toEqual({
      event: 'delivered',
      messageUuid: 'm',
      destination: '79160000001',
      status: 'DELIVERED',
      deliveredAt: '2026-03-01T10:00:00.000Z',
    })
    expect(JSON.parse(partnerBody({ ...event, event: 'sent' }))).toEqual({
      event: 'sent',
      messageUuid: 'm',
      destination: '79160000001',
      status: 'SENT',
      sentAt: '2026-03-01T10:00:00.000Z',
    })
    expect(JSON.parse(partnerBody({ ...event, event: 'failed', errorCode: 7060 }))).toEqual({
      event: 'failed',
      messageUuid: 'm',
      destination: '79160000001',
      status: 'FAILED',
      failedAt: '2026-03-01T10:00:00.000Z',
      errorCode: 7060,
    })
  })

  test('has the same id as a request with the same events, and another id than any request with other events', () => {
    const batch = { companyId: 1, callbackId: 7, api: 'messaging' } as CallbackBatch
    const idOf = (...places: number[]) => requestIdOf(places.map(index => ({ batch, index })))
    expect(idOf(3)).toBe('evt_1_7_3')
    expect(idOf(0, 1)).toBe(idOf(0, 1))
    const ids = [idOf(0), idOf(0, 1), idOf(1, 0), idOf(0, 1, 2), idOf(0, 2), idOf(0, 12)]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('has a signature as Standard Webhooks defines it', () => {
    const secret = `whsec_${Buffer.from('a key of both sides').toString('base64')}`
    const expected = createHmac('sha256', 'a key of both sides').update('evt_1.1700000000.{"a":1}').digest('base64')
    expect(signerOf(secret)('evt_1', 1_700_000_000, '{"a":1}')).toBe(`v1,${expected}`)
  })

  test('is signed with a secret of 32 bytes that has the prefix whsec_', () => {
    expect(makeSecret()).toMatch(/^whsec_[\w+/]{43}=$/)
  })

  test.each([
    [url, receiver],
    ['http://127.0.0.1:8080/a', 'http://127.0.0.1:8080'],
    ['https://[2606:4700::1]/x', 'https://[2606:4700::1]'],
    ['ftp://hooks.example', 'invalid'],
    ['no address', 'invalid'],
  ])('the receiver of %s is %s', (address, expected) => {
    expect(receiverOf(address)).toBe(expected)
  })

  test('is listed without the password of its address', () => {
    expect(withoutPassword(url)).toBe('https://user:***@hooks.example/path?x=1')
    expect(withoutPassword('HTTP://EXAMPLE.COM/a')).toBe('HTTP://EXAMPLE.COM/a') // unchanged
  })
})

describe('enqueueing', () => {
  test('stores one row per address, in the given order, that expires after a day', async () => {
    const now = new Date('2026-03-01T10:00:00Z')
    await enqueue(
      companyId,
      [
        { url, events: [anEvent(), anEvent()] },
        { url: `${url}&y`, events: [anEvent()] },
      ],
      now,
    )
    const rows = await db.sql`
      select receiver, url, event_count as events, status, expires_at from callbacks order by callback_id`
    expect(rows).toEqual([
      { receiver, url, events: 2, status: 'WAITING', expiresAt: new Date('2026-03-02T10:00:00Z') },
      { receiver, url: `${url}&y`, events: 1, status: 'WAITING', expiresAt: new Date('2026-03-02T10:00:00Z') },
    ])
  })

  test('splits a large batch, and keeps all its events in their order', async () => {
    const events = uuid7Batch(new Date(), 601).map(anEvent)
    await enqueue(companyId, [{ url, events }])
    const batches = await nextBatches(db.sql, { companyId, receiver }, new Date(), { mostEvents: 1000, probe: false })
    expect(batches.map(batch => batch.events.length)).toEqual([250, 250, 101])
    expect(batches.flatMap(batch => batch.events.map(event => event.messageUuid))).toEqual(
      events.map(event => event.messageUuid),
    )
  })

  test('stores nothing if the status change is rolled back or if there are no events', async () => {
    const failing = db.sql.begin(async sql => {
      await enqueueCallbacks(sql, companyId, [{ url, event: anEvent() }], new Date())
      throw new Error('the status was not written')
    })
    await expect(failing).rejects.toThrow('the status was not written')
    await enqueue(companyId, [])
    await enqueue(companyId, [{ url, events: [] }])
    expect(await db.sql`select from callbacks`).toHaveLength(0)
  })

  test('accepts an invalid address, so that the status change is stored', async () => {
    await enqueue(companyId, [{ url: 'no address', events: [anEvent()] }])
    expect(await listCallbacks(db.sql, companyId, { limit: 10 })).toMatchObject([{ url: 'invalid' }])
  })
})

describe('the claim of a receiver', () => {
  const now = new Date()
  const [one, two] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
  const key = () => ({ companyId, receiver })

  beforeEach(() => enqueue(companyId, [{ url, events: [anEvent()] }]))

  test('succeeds for exactly one of several workers', async () => {
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        claimReceivers(db.sql, [key()], `00000000-0000-4000-8000-00000000000${i}`, 60, now),
      ),
    )
    expect(claims.flat()).toEqual([{ ...key(), failures: 0 }])
    expect(await findDueReceivers(db.sql, now, 10, 10)).toEqual([])
  })

  test('ends if it is not renewed, and its first worker learns this at the next renewal', async () => {
    await claimReceivers(db.sql, [key()], one, 0, now)
    expect(await findDueReceivers(db.sql, now, 10, 10)).toEqual([key()])
    expect(await claimReceivers(db.sql, [key()], two, 60, now)).toHaveLength(1)
    expect(await renewReceivers(db.sql, [key()], one, 60)).toEqual([{ key: key(), isOurs: false }])
    expect(await renewReceivers(db.sql, [key()], two, 60)).toEqual([{ key: key(), isOurs: true }])
  })

  test('is possible for a failing receiver only when its probe is due', async () => {
    await claimReceivers(db.sql, [key()], one, 60, now)
    const probeAt = new Date(now.getTime() + 300_000)
    await releaseReceiver(db.sql, { ...key(), failures: 20 }, one, probeAt)
    expect(await findDueReceivers(db.sql, now, 10, 10)).toEqual([])
    expect(await claimReceivers(db.sql, [key()], two, 60, now)).toEqual([])
    expect(await findDueReceivers(db.sql, probeAt, 10, 10)).toEqual([key()])
    expect(await findDueReceivers(db.sql, probeAt, 10, 0)).toEqual([])
  })

  test('is offered once per company and receiver, for any number of batches', async () => {
    const other = await aCompany(db.sql, partner)
    for (let i = 0; i < 5; i++) await enqueue(other, [{ url: `https://h${i % 3}.example/`, events: [anEvent()] }])
    const found = await findDueReceivers(db.sql, new Date(), 10, 10)
    expect(found.map(({ companyId, receiver }) => `${companyId} ${receiver}`).sort()).toEqual([
      `${companyId} ${receiver}`,
      ...[0, 1, 2].map(i => `${other} https://h${i}.example`),
    ])
  })
})

describe('secrets, replay and housekeeping', () => {
  const key = callbackKey('a secret of the tests, 32 or longer')

  test('concurrent first requests for a secret all get the same secret', async () => {
    const secrets = await Promise.all(Array.from({ length: 5 }, () => callbackSecretOf(db.sql, companyId, key)))
    expect(new Set(secrets).size).toBe(1)
    expect(await callbackSecretOf(db.sql, companyId, key)).toBe(secrets[0])
  })

  test('a secret is stored sealed, and a plain secret of an older version is sealed and stays the same', async () => {
    const plain = makeSecret()
    const keep = (secret: string | null) =>
      db.sql`
        update companies set callback_secret = ${secret}, callback_secret_sealed = null where company_id = ${companyId}`
    const textOfRow = async () =>
      (await db.sql`select companies::text as text from companies where company_id = ${companyId}`)[0]!.text
    await keep(plain)
    const read = await Promise.all(Array.from({ length: 5 }, () => callbackSecretOf(db.sql, companyId, key)))
    expect(new Set(read)).toEqual(new Set([plain]))
    expect(await textOfRow()).not.toContain(plain)

    await keep(plain)
    await sealPlainSecrets(db.sql, key)
    expect(await textOfRow()).not.toContain(plain)
    expect(await callbackSecretOf(db.sql, companyId, key)).toBe(plain)
  })

  test('a secret sealed with another TIDINGS_SECRET causes an error that says so, and can be replaced', async () => {
    await callbackSecretOf(db.sql, companyId, key)
    const other = callbackKey('another secret of the tests, 32 or longer')
    await expect(callbackSecretOf(db.sql, companyId, other)).rejects.toThrow(/TIDINGS_SECRET has changed/)
    const replace = (id: number) => db.sql.begin(sql => replaceCallbackSecret(sql, id, other))
    const made = await replace(companyId)
    expect(await callbackSecretOf(db.sql, companyId, other)).toBe(made)
    await expect(replace(999_999)).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('a company can replay only its own callbacks', async () => {
    await enqueue(companyId, [{ url, events: [anEvent()] }])
    const [row] = await db.sql`select callback_id as id from callbacks`
    const other = await aCompany(db.sql, partner)
    await expect(replayCallback(db.sql, other, row!.id, new Date())).rejects.toThrow('Callback not found')
  })

  test('callbacks expire after a day and are deleted after 30 days, and waiting callbacks stay', async () => {
    const now = new Date()
    const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
    await enqueue(companyId, [{ url, events: [anEvent()] }], daysAgo(31))
    await enqueue(companyId, [{ url, events: [anEvent()] }], daysAgo(29))
    await enqueue(companyId, [{ url, events: [anEvent()] }], now)
    expect(await expireCallbacks(db.sql, now)).toBe(2)
    await forgetOldCallbacks(db.sql, now)
    const left = await listCallbacks(db.sql, companyId, { limit: 10 })
    expect(left.map(callback => callback.status)).toEqual(['WAITING', 'EXPIRED'])
  })
})
