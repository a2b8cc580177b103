import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { countLockWaits, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender, numberOf } from '../../testing/factories.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import { verifyLedger } from '../audit/verify.ts'
import { addRecipients, createClientDispatch } from '../dispatches/client-dispatches.ts'
import { endDueLanes } from '../dispatches/ending.ts'
import { startCreatedDispatch } from '../dispatches/lifecycle.ts'
import { endOverdueSteps, enqueueUnread } from '../expiry/expiry.ts'
import type { CascadePlan, MessageRequest } from '../messages/single.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { importTariffs } from '../pricing/imports.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { Intake } from '../singles/intake.ts'
import { verifyTraffic } from '../statistics/verify.ts'
import { recordStatusReports, recordWithin } from './recording.ts'

/** Callbacks and cascade steps that follow status changes. */

const db = useDatabase()
const NOW = new Date('2026-07-01T12:00:00Z')
const LATER = new Date('2026-07-01T13:30:00Z')
const SOON = '2026-07-01 16:00:00' // an hour from now in Moscow
const linkBase = 'http://localhost/s'
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
  await anApprovedSender(db.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
})

const request = (given: Partial<MessageRequest> = {}): MessageRequest => ({
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: numberOf.MTS,
  text: 'Hello',
  content: null,
  trafficType: null,
  externalId: null,
  centerId: null,
  method: 'API',
  options: { useLocalTime: false },
  callbackUrl: 'https://client.example/hook',
  callbackEvents: ['sent', 'delivered', 'read', 'price'],
  ...given,
})

async function accept(...requests: MessageRequest[]): Promise<string[]> {
  const intake = new Intake({ sql: db.sql, clock: () => NOW, numbering: () => numbering, billingZone, linkBase })
  const outcomes = await intake.accept(world.companyId, requests)
  return outcomes.map(outcome => {
    if (outcome.kind === 'refused') throw new Error(outcome.reason)
    return outcome.uuid
  })
}

const cascades = { numbering: () => numbering, linkBase }
const record = (statusReports: StatusReport[], now = NOW) =>
  recordStatusReports(db.sql, world.companyId, statusReports, { billingZone, now, cascades })
const delivered = (uuid: string): StatusReport => ({ uuid, sentAt: NOW, final: { status: 'DELIVERED', at: NOW } })

/** Everything that the company's clients are to be told, in order. */
async function told(): Promise<Record<string, unknown>[]> {
  const rows = await db.sql`select events from callbacks where company_id = ${world.companyId} order by callback_id`
  return rows.flatMap(({ events }) => events as Record<string, unknown>[])
}
const statusesTold = async () => (await told()).flatMap(({ status }) => status ?? [])

describe('reading', () => {
  test('is noted and told in channels with reads; in others it says that the message arrived, and nothing else', async () => {
    const [viber, weasy] = await accept(
      request({ channelType: 'VIBER' }),
      request({ channelType: 'WEASY', senderName: 'anyone' }),
    )
    await record([viber!, weasy!].map(uuid => ({ ...delivered(uuid), read: { at: NOW } })))
    const rows = await db.sql`
      select channel_type, status, read_at from messages where company_id = ${world.companyId} order by channel_type`
    expect(rows).toEqual([
      { channelType: 'VIBER', status: 'DELIVERED', readAt: NOW },
      { channelType: 'WEASY', status: 'DELIVERED', readAt: null },
    ])
    const reads = (await told()).filter(({ status }) => status === 'read')
    expect(reads).toMatchObject([{ channelType: 'VIBER', messageUuid: viber }])
  })

  test('that did not happen is reported once, also with several reporters', async () => {
    const [uuid] = await accept(request({ channelType: 'VIBER' }))
    await record([delivered(uuid!)])
    const tellers = Array.from({ length: 5 }, () => enqueueUnread(db.sql, world.companyId, [uuid!], LATER))
    await Promise.all(tellers)
    await enqueueUnread(db.sql, world.companyId, [uuid!], LATER)
    expect(await statusesTold()).toEqual(['sent', 'delivered', 'unread'])
    expect(await db.sql`select from message_timers where message_uuid = ${uuid!}`).toEqual([])
  })

  testOnOneServer('that is being recorded when its time is over counts', async () => {
    const [uuid] = await accept(request({ channelType: 'VIBER' }))
    await record([delivered(uuid!)])
    let telling: Promise<void> | undefined
    await db.sql.begin(async sql => {
      await recordWithin(sql, db.sql, world.companyId, [{ uuid: uuid!, read: { at: NOW } }], { billingZone, now: NOW })
      telling = enqueueUnread(db.sql, world.companyId, [uuid!], LATER)
      await eventually(async () => expect(await countLockWaits(db.sql)).toBeGreaterThan(0))
    })
    await telling
    expect(await statusesTold()).toEqual(['sent', 'delivered', 'read'])
  })

  test('is waited for until 25 hours after sending, however long the message waited before; with a ttl until that ends', async () => {
    const [common, short] = await accept(
      request({ channelType: 'VIBER' }),
      request({ channelType: 'VIBER', options: { ttl: 86_400 } }),
    )
    const at = new Date('2026-07-02T11:00:00Z')
    await record(
      [common!, short!].map(uuid => ({ uuid, sentAt: at, final: { status: 'DELIVERED', at } })),
      at,
    )
    const timers = await db.sql`
      select message_uuid as uuid, due_at from message_timers where company_id = ${world.companyId} and kind = 'unread' order by message_uuid`
    expect(timers).toEqual([
      { uuid: common, dueAt: new Date('2026-07-03T12:00:00Z') },
      { uuid: short, dueAt: new Date('2026-07-02T12:00:00Z') },
    ])
  })
})

describe('the price of a single message', () => {
  const rows = [
    [
      'SCALED',
      [
        { from: 1, price: '3' },
        { from: 2, price: '2' },
      ],
      ['3', '3'],
      [3, 2],
    ],
    [
      'MAU',
      [
        { from: 1, price: '2', priceMauBatch: '100' },
        { from: 2, price: '1', priceMauBatch: '50' },
      ],
      ['2', '2'],
      [2, 1],
    ],
  ] as const

  test.each(rows)('by a %s tariff is told as it was settled, not as it was held', async (model, steps, held, final) => {
    const tariff = { senderType: 'COMMON', brand: 'MTS', pricingModel: model, steps: [...steps] }
    await importTariffs(db.sql, world.partner.login, [tariff])
    const uuids = await accept(request(), request({ destination: '79160000002' }))
    const kept =
      await db.sql`select price from messages where message_uuid = any(${uuids}::uuid[]) order by message_uuid`
    expect(kept.map(({ price }) => price)).toEqual(held.map(amount => money(amount)))
    for (const uuid of uuids) await record([delivered(uuid)])
    const prices = (await told()).filter(({ kind }) => kind === 'price')
    expect(prices.map(({ price }) => Number(price))).toEqual(final)
    expect(await verifyLedger(db.sql, { companyId: world.companyId })).toEqual([])
    expect(await verifyTraffic(db.sql, { companyId: world.companyId })).toEqual([])
  })
})

describe('a cascade past its completion writes nothing further', () => {
  const options = { useLocalTime: false, localCompletionTime: SOON }
  const plan = (condition: 'not_delivered' | 'not_read'): CascadePlan => [
    { request: request({ channelType: 'VIBER', options }), condition, ttlSeconds: 60 },
    { request: request({ options }), condition: 'not_delivered', ttlSeconds: 60 },
    { request: request({ options }), condition: 'not_delivered', ttlSeconds: null },
  ]
  const aCascade = async (condition: 'not_delivered' | 'not_read') => {
    const steps = plan(condition)
    const [uuid] = await accept({ ...steps[0]!.request, cascade: { step: 1, plan: steps } })
    return uuid!
  }
  const stepsOf = () => db.sql`
    select cascade_step, status from messages where company_id = ${world.companyId} order by cascade_step`
  const pass = (uuid: string, now: Date) =>
    endOverdueSteps(db.sql, world.companyId, [uuid], { ...cascades, pool: db.sql, billingZone, now })
  const failed = (uuid: string): StatusReport => ({ uuid, refused: { at: NOW, errorCode: 456 } })

  test.each([
    ['in time', NOW, 2],
    ['too late', LATER, 1],
  ] as const)('after a step that failed: %s', async (_, now, count) => {
    const uuid = await aCascade('not_delivered')
    await record([failed(uuid)], now)
    expect(await stepsOf()).toHaveLength(count)
  })

  test.each([
    ['in time', NOW, 2],
    ['too late', LATER, 1],
  ] as const)('after a step that was not read: %s', async (_, now, count) => {
    const uuid = await aCascade('not_read')
    await record([delivered(uuid)])
    await pass(uuid, now)
    expect(await stepsOf()).toHaveLength(count)
    expect(await statusesTold()).toEqual(['sent', 'delivered'])
  })

  const step = { senderName: 'ROMASHKA', text: 'Hello', content: null }
  async function aDispatch() {
    const { companyId } = world
    const dispatch = {
      ...step,
      name: 'Sale',
      channelType: 'VIBER' as const,
      centerId: null,
      partsPerSecond: null,
      options,
      callbackUrl: 'https://client.example/hook',
      callbackEvents: ['delivered' as const],
      cascade: [
        { ...step, channelType: 'VIBER' as const, condition: 'not_read' as const, ttl: 60 },
        { ...step, channelType: 'SMS' as const, condition: null, ttl: null },
      ],
    }
    const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now: NOW })
    const home = { companyId, dispatchId }
    await addRecipients(db.sql, numbering, home, {
      recipients: [{ destination: numberOf.MTS }],
      linkBase,
      once: undefined,
    })
    const [message] = await db.sql`select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
    return { ...home, uuid: message!.uuid as string }
  }
  const endLanes = (now: Date) =>
    endDueLanes(db.sql, now, (_, uuids, errorCode) =>
      record(
        uuids.map(uuid => ({ uuid, refused: { at: now, errorCode } })),
        now,
      ),
    )

  test('of a dispatch that never started', async () => {
    await aDispatch()
    await endLanes(LATER)
    expect(await stepsOf()).toEqual([{ cascadeStep: 1, status: 'FAILED' }])
    expect(await statusesTold()).toEqual(['unsent'])
  })

  test.each([
    ['in time', NOW, 2],
    ['too late', LATER, 1],
  ] as const)('of a STARTED dispatch, after a step that failed or was not read: %s', async (_, now, count) => {
    for (const statusReport of [failed, delivered]) {
      world = await aWorld(db.sql)
      await anApprovedSender(db.sql, world.companyId, { channelType: 'VIBER', brand: 'MTS' })
      const { uuid, ...home } = await aDispatch()
      await startCreatedDispatch(db.sql, home, { billingZone, now: NOW })
      await record([statusReport(uuid)], now)
      await endLanes(now) // the lane knows no end any more
      await pass(uuid, now)
      expect(await stepsOf()).toHaveLength(count)
    }
  })
})
