import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { type Loop, repeat } from '../../engine/loop.ts'
import { useDatabase } from '../../testing/database.ts'
import {
  aChannel,
  aClock,
  acceptedBySimulators,
  aGateway,
  completed,
  expectBooksInOrder,
  expectPaid,
  fatesOf,
  progressOf,
  useEngines,
} from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { runnableLanes } from '../../testing/lanes.ts'
import { aWorld, billingZone, someRecipients, type World } from '../../testing/world.ts'
import { takeChunk } from '../lanes/lanes.ts'
import { closeLease } from '../leases/leases.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordStatusReports } from '../recording/recording.ts'
import { endStopped } from '../stopping/stopping.ts'
import { addRecipients, createClientDispatch, requireShownDispatch } from './client-dispatches.ts'
import type { CascadeStep, ClientDispatch, Recipient } from './dispatch.ts'
import { endDueLanes, type Refuse } from './ending.ts'
import { endDispatch, startCreatedDispatch, startDispatch, stopDispatch } from './lifecycle.ts'

const db = useDatabase()
const { anEngine, stopEngine } = useEngines(db)
const loops = new Set<Loop>()
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

afterEach(async () => {
  await Promise.all([...loops].map(loop => loop.stop()))
  loops.clear()
})

const realClock = () => new Date()

const refuseAt =
  (now: Date): Refuse =>
  (companyId, uuids, errorCode) =>
    recordStatusReports(
      db.sql,
      companyId,
      uuids.map(uuid => ({ uuid, refused: { at: now, errorCode } })),
      { billingZone, now },
    )

const endLanes = (now = new Date()) => endDueLanes(db.sql, now, refuseAt(now))

/** Ends lanes while an engine runs, as engines do. */
function anEnder(clock: () => Date = realClock) {
  loops.add(repeat('endings', 50, pino({ level: 'silent' }), () => endLanes(clock())))
}

const aSale: ClientDispatch = {
  name: 'Sale',
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  text: 'Hello',
  centerId: null,
  partsPerSecond: null,
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  cascade: null,
}

type Made = { world: World; dispatchId: number; home: { companyId: number; dispatchId: number } }

async function aFilled(
  recipients: Recipient[],
  given: Partial<ClientDispatch> = {},
  { world, now = new Date() }: { world?: World; now?: Date } = {},
): Promise<Made> {
  const its = world ?? (await aWorld(db.sql))
  const { companyId } = its
  const dispatch = { ...aSale, ...given }
  const { dispatchId } = await createClientDispatch(db.sql, companyId, { dispatch, once: undefined, now })
  const home = { companyId, dispatchId }
  await addRecipients(db.sql, numbering, home, { recipients, linkBase: 'http://localhost/s', once: undefined })
  return { world: its, dispatchId, home }
}

const start = ({ home }: Made, now = new Date()) => startCreatedDispatch(db.sql, home, { billingZone, now })
const end = ({ home }: Made, now = new Date()) => endDispatch(db.sql, home, { billingZone, now })
const shown = ({ home }: Made) => requireShownDispatch(db.sql, home.companyId, home.dispatchId)
const refusing = () => aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))

describe('sending', () => {
  test('a dispatch with the shared sender name is delivered to every operator and charged', async () => {
    await aGateway(db.sql)
    const made = await aFilled(someRecipients(400), { senderName: 'sms_promo' })
    const before = await progressOf(db.sql, made.world, made.dispatchId)
    expect(before.priceEstimate).toBeGreaterThan(0n)
    await start(made)
    await anEngine()
    await completed(db.sql, made.world, made.dispatchId)
    expect((await shown(made)).messages).toEqual({
      total: 400,
      delivered: 400,
      undelivered: 0,
      unsent: 0,
      sent: 0,
      sending: 0,
    })
    await expectPaid(db.sql, made.world, before.priceEstimate)
  })

  test('the shared sender name serves operators of brands without a registration', async () => {
    const made = await aFilled([{ destination: '79020000077' }, { destination: '4915112345678' }], {
      senderName: 'sms_promo',
    })
    const rows = await db.sql`select sender_id, status from messages where dispatch_id = ${made.dispatchId}`
    expect(rows).toEqual(Array(2).fill({ senderId: null, status: 'CREATED' }))
  })

  test('the operator gets the sender name, registered or not', async () => {
    const world = await aWorld(db.sql)
    const operator = refusing()
    await aGateway(db.sql)
    for (const senderName of ['sms_promo', 'ROMASHKA']) {
      await start(await aFilled(someRecipients(4), { senderName }, { world }))
    }
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed).toHaveLength(8))
    expect(operator.handed.map(({ senderName }) => senderName).sort()).toEqual(
      [...Array(4).fill('ROMASHKA'), ...Array(4).fill('sms_promo')].sort(),
    )
  })

  test('a message that fails after sending is undelivered, and a message that fails before is unsent', async () => {
    await aGateway(db.sql)
    const made = await aFilled([
      { destination: '79160000003' }, // accepted, then undelivered
      { destination: '79160000004' }, // refused at submission
      { destination: 'no number' },
      { destination: '79160000001' },
    ])
    await start(made)
    await anEngine()
    await completed(db.sql, made.world, made.dispatchId)
    const { messages, parts } = await shown(made)
    expect(messages).toEqual({ total: 4, delivered: 1, undelivered: 1, unsent: 2, sent: 0, sending: 0 })
    expect(parts).toEqual({ total: 3, delivered: 1, undelivered: 1, unsent: 1, sent: 0, sending: 0 })
    await expectBooksInOrder(db.sql, made.world)
  })

  test('a dispatch with a rate is sent at its rate', async () => {
    const operator = refusing()
    await aGateway(db.sql)
    const made = await aFilled(someRecipients(40), { partsPerSecond: 1 / 3600 })
    await start(made)
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed).toHaveLength(1))
    await pause(500)
    expect(operator.handed).toHaveLength(1)
  })
})

/** Invented numbers of the carried plan. */
const MOSCOW = '79161230077'
const VLADIVOSTOK = '79147000077'

describe('zones', () => {
  test('hours begin in the time zone of each subscriber', async () => {
    const clock = aClock('2026-07-02T01:30:00Z') // 11:30 in Vladivostok, 04:30 in Moscow
    const operator = refusing()
    await aGateway(db.sql)
    const options = { hours: [12], useLocalTime: true }
    const made = await aFilled([{ destination: MOSCOW }, { destination: VLADIVOSTOK }], { options }, { now: clock() })
    expect(await zonesOf(made)).toEqual(['Asia/Vladivostok', 'Europe/Moscow'])
    await start(made, clock())
    await anEngine({ connect: operator.connect, clock })
    const handedAt = async (moment: string) => {
      clock.set(moment)
      await pause(350)
      return operator.handed.map(({ destination }) => destination)
    }
    expect(await handedAt('2026-07-02T01:59:59Z')).toEqual([])
    clock.set('2026-07-02T02:00:00Z')
    await eventually(() => expect(operator.handed).toHaveLength(1))
    expect(await handedAt('2026-07-02T08:59:59Z')).toEqual([VLADIVOSTOK])
    clock.set('2026-07-02T09:00:00Z')
    await eventually(() => expect(operator.handed.map(({ destination }) => destination)).toEqual([VLADIVOSTOK, MOSCOW]))
    await expectBooksInOrder(db.sql, made.world)
  })

  test('a local time of sending comes earlier in the east, and in the zone of Moscow at the same moment for all', async () => {
    const now = new Date('2026-07-01T12:00:00Z')
    const both = [{ destination: MOSCOW }, { destination: VLADIVOSTOK }]
    const times = async (options: ClientDispatch['options']) => {
      const made = await aFilled(both, { options }, { now })
      return db.sql`select zone, start_at, end_at from lanes where dispatch_id = ${made.dispatchId} order by zone`
    }
    const said = { localSendTime: '2026-07-02 10:00:00', localCompletionTime: '2026-07-03 10:00:00' }
    const at = (moment: string) => new Date(moment)
    expect(await times({ ...said, useLocalTime: true })).toEqual([
      { zone: 'Asia/Vladivostok', startAt: at('2026-07-02T00:00:00Z'), endAt: at('2026-07-03T00:00:00Z') },
      { zone: 'Europe/Moscow', startAt: at('2026-07-02T07:00:00Z'), endAt: at('2026-07-03T07:00:00Z') },
    ])
    const moscow = { zone: 'Europe/Moscow', startAt: at('2026-07-02T07:00:00Z'), endAt: at('2026-07-03T07:00:00Z') }
    const lanes = await times({ ...said, useLocalTime: false })
    expect(lanes.length).toBeGreaterThan(0)
    expect(new Set(lanes.map(lane => JSON.stringify(lane)))).toEqual(new Set([JSON.stringify(moscow)]))
  })

  test('without times and hours all zones share one lane', async () => {
    const made = await aFilled([{ destination: MOSCOW }, { destination: VLADIVOSTOK }], { options: {} })
    expect(await zonesOf(made)).toEqual([null])
  })

  async function zonesOf({ dispatchId }: Made) {
    const rows = await db.sql<{ zone: string | null }[]>`
      select distinct zone from lanes where dispatch_id = ${dispatchId} order by 1`
    return rows.map(({ zone }) => zone)
  }
})

describe('a completion time', () => {
  const said = { localSendTime: '2026-07-02 10:00:00', localCompletionTime: '2026-07-02 12:00:00' }

  test('fails the unsent messages of each zone at its local time, and releases their holds', async () => {
    const clock = aClock('2026-07-01T12:00:00Z')
    const both = [{ destination: MOSCOW }, { destination: VLADIVOSTOK }, { destination: 'no number' }]
    const made = await aFilled(both, { options: said }, { now: clock() })
    await start(made, clock())
    anEnder(clock)
    clock.set('2026-07-02T02:00:00Z')
    await eventually(async () =>
      expect(await fatesOf(db.sql, made.dispatchId)).toEqual({ CREATED: 1, 'FAILED 453': 1, 'FAILED 7401': 1 }),
    )
    await expectBooksInOrder(db.sql, made.world)
    clock.set('2026-07-02T09:00:00Z')
    await completed(db.sql, made.world, made.dispatchId)
    expect(await fatesOf(db.sql, made.dispatchId)).toEqual({ 'FAILED 453': 2, 'FAILED 7401': 1 })
    expect((await shown(made)).messages).toMatchObject({ unsent: 3, undelivered: 0 })
    await expectPaid(db.sql, made.world, 0n)
  })

  test('is the end of all submissions', async () => {
    const clock = aClock('2026-07-02T09:00:00Z')
    const operator = refusing()
    await aGateway(db.sql)
    const made = await aFilled([{ destination: MOSCOW }], { options: said }, { now: new Date('2026-07-01T12:00:00Z') })
    await start(made, clock())
    await anEngine({ connect: operator.connect, clock })
    await pause(300)
    expect(operator.handed).toEqual([])
    anEnder(clock)
    await completed(db.sql, made.world, made.dispatchId)
    expect(operator.handed).toEqual([])
  })

  test('fails messages of a dispatch that a partner stopped, and messages of a dispatch that was never started', async () => {
    const now = new Date('2026-07-01T12:00:00Z')
    const late = new Date('2026-07-02T09:00:00Z')
    const held = await aFilled([{ destination: MOSCOW }], { options: said }, { now })
    await start(held, now)
    await stopDispatch(db.sql, held.world.partner, held.dispatchId, { billingZone, now })
    const created = await aFilled([{ destination: MOSCOW }], { options: said }, { now })
    await endLanes(late)
    expect(await fatesOf(db.sql, held.dispatchId)).toEqual({ 'FAILED 453': 1 })
    expect((await shown(held)).status).toBe('COMPLETED')
    const more = { recipients: [{ destination: MOSCOW }], linkBase: '', once: undefined }
    await addRecipients(db.sql, numbering, created.home, more)
    await endLanes(late)
    expect(await fatesOf(db.sql, created.dispatchId)).toEqual({ 'FAILED 453': 2 })
    await start(created, late)
    expect((await shown(created)).status).toBe('COMPLETED')
    for (const { world } of [held, created]) await expectPaid(db.sql, world, 0n)
  })
})

describe('the end of a dispatch', () => {
  test('after half of 20,000 messages keeps the submitted messages, fails the others as unsent, and leaves the ledger correct', async () => {
    await aGateway(db.sql, { partsPerSecond: 4000, settings: { receiptMs: 20 } })
    const made = await aFilled(someRecipients(20_000))
    await start(made)
    const engine = await anEngine()
    await eventually(async () => expect((await shown(made)).messages.delivered).toBeGreaterThan(2000))
    await end(made)
    expect((await shown(made)).status).toBe('STOPPED')
    await expectBooksInOrder(db.sql, made.world)
    anEnder()
    const done = await completed(db.sql, made.world, made.dispatchId)
    await stopEngine(engine)

    const { messages } = await shown(made)
    expect(messages).toMatchObject({ total: 20_000, undelivered: 0, sent: 0, sending: 0 })
    expect(messages.unsent).toBeGreaterThan(0)
    expect(messages.delivered + messages.unsent).toBe(20_000)
    expect(await fatesOf(db.sql, made.dispatchId)).toEqual({
      DELIVERED: messages.delivered,
      'FAILED 454': messages.unsent,
    })
    const [handed] = await db.sql`
      select count(distinct s.message_uuid) as messages from ${acceptedBySimulators(db.sql)} s
      join messages m on m.company_id = s.company_id and m.message_uuid = s.message_uuid where m.dispatch_id = ${made.dispatchId}`
    expect(handed!.messages).toBe(messages.delivered)
    expect(done.status).toBe('COMPLETED')
    const [paid] = await db.sql<{ sum: bigint }[]>`
      select sum(final_price)::numeric(18, 4) as sum from messages where dispatch_id = ${made.dispatchId}`
    await expectPaid(db.sql, made.world, paid!.sum)
    const lanes = await db.sql`
      select end_at, cursor = tail as through from lanes where dispatch_id = ${made.dispatchId} and tail > 0`
    expect(new Set(lanes.map(lane => JSON.stringify(lane)))).toEqual(new Set(['{"endAt":null,"through":true}']))
  })

  test('does not fail leased messages until the lease is closed', async () => {
    const made = await aFilled(someRecipients(40), { senderName: 'sms_promo' })
    await start(made)
    const lanes = await runnableLanes(db.sql, new Date())
    const lane = lanes.find(({ dispatchId }) => dispatchId === made.dispatchId)!
    const lease = await takeChunk(db.sql, lane, 5, randomUUID())
    await end(made)
    await endLanes()
    expect(await fatesOf(db.sql, made.dispatchId)).toEqual({ CREATED: 5, 'FAILED 454': 35 })
    await expectBooksInOrder(db.sql, made.world)

    const now = new Date()
    const [first] = await db.sql<{ uuid: string }[]>`
      select message_uuid as uuid from messages where dispatch_id = ${made.dispatchId} and status = 'CREATED' order by seq`
    await recordStatusReports(db.sql, made.home.companyId, [{ uuid: first!.uuid, sentAt: now }], { billingZone, now })
    const left = [{ firstSeq: lease!.firstSeq + 1, nextSeq: lease!.nextSeq, attempts: 0, dueAt: now }]
    await closeLease(db.sql, lease!, left, { billingZone, now })
    await endLanes()
    expect(await fatesOf(db.sql, made.dispatchId)).toEqual({ SENT: 1, 'FAILED 454': 39 })
    await expectBooksInOrder(db.sql, made.world)
    const final = { status: 'DELIVERED' as const, at: now }
    await recordStatusReports(db.sql, made.home.companyId, [{ uuid: first!.uuid, final }], { billingZone, now })
    expect((await shown(made)).status).toBe('COMPLETED')
    await expectBooksInOrder(db.sql, made.world)
  })

  test('is continued by the next engine after a crash', async () => {
    const made = await aFilled(someRecipients(5000), { senderName: 'sms_promo' })
    await start(made)
    await end(made)
    let batches = 0
    const dying: Refuse = async (...batch) => {
      batches += 1
      if (batches === 2) throw new Error('killed')
      return refuseAt(new Date())(...batch)
    }
    await expect(endDueLanes(db.sql, new Date(), dying)).rejects.toThrow('killed')
    const { messages } = await shown(made)
    expect(messages.unsent).toBeGreaterThan(0)
    expect(messages.sending).toBeGreaterThan(0)
    await expectBooksInOrder(db.sql, made.world)
    await db.sql`update lanes set ending_until = '-infinity' where dispatch_id = ${made.dispatchId}` // time passes
    await endLanes()
    expect(await fatesOf(db.sql, made.dispatchId)).toEqual({ 'FAILED 454': 5000 })
    expect((await shown(made)).status).toBe('COMPLETED')
    await expectPaid(db.sql, made.world, 0n)
  })

  test('fails each message once, also when several engines end it concurrently', async () => {
    const made = await aFilled(someRecipients(3000))
    await start(made)
    await end(made)
    const refused: string[] = []
    const noting: Refuse = (companyId, uuids, errorCode) => {
      refused.push(...uuids)
      return refuseAt(new Date())(companyId, uuids, errorCode)
    }
    await Promise.all(Array.from({ length: 4 }, () => endDueLanes(db.sql, new Date(), noting)))
    expect(refused).toHaveLength(3000)
    expect((await shown(made)).messages).toMatchObject({ total: 3000, unsent: 3000 })
    await expectPaid(db.sql, made.world, 0n)
  })

  test('cannot be undone by the partner, before it is complete or later', async () => {
    const made = await aFilled(someRecipients(4))
    await start(made)
    await end(made)
    const again = () => startDispatch(db.sql, made.world.partner, made.dispatchId, { billingZone, now: new Date() })
    await expect(again()).rejects.toMatchObject({ kind: 'invalid' })
    await endLanes()
    await expect(again()).rejects.toMatchObject({ kind: 'invalid' })
  })
})

test('a start that the budget does not cover is refused with insufficient_funds, and changes nothing', async () => {
  const world = await aWorld(db.sql, { budget: '1' })
  const made = await aFilled(someRecipients(8), {}, { world })
  await expect(start(made)).rejects.toMatchObject({ kind: 'insufficient_funds' })
  expect((await shown(made)).status).toBe('CREATED')
  const [account] = await db.sql`select reserved from accounts where company_id = ${world.companyId}`
  expect(account).toEqual({ reserved: money('0') })
})

describe('a cascade dispatch', () => {
  const step = (given: Partial<CascadeStep>): CascadeStep => ({
    channelType: 'SMS',
    senderName: 'sms_promo',
    text: 'Hello, {name}',
    content: null,
    condition: null,
    ttl: null,
    ...given,
  })

  test('sends the next step to the recipients whose first step failed, with their own substitutions', async () => {
    await aGateway(db.sql, { name: 'sms' })
    await aGateway(db.sql, { name: 'vk', channelType: 'VK' })
    const cascade = [
      step({ channelType: 'VK', senderName: 'shop', condition: 'not_delivered', ttl: 3600 }),
      step({ text: 'Dear {name}, hello' }),
    ]
    const recipients = [
      { destination: '79160000001', substitutions: { name: 'Anna' } },
      { destination: '79160000003', substitutions: { name: 'Boris' } }, // undelivered, in every channel
    ]
    const made = await aFilled(recipients, { channelType: 'VK', senderName: 'shop', text: cascade[0]!.text, cascade })
    await start(made)
    await anEngine()
    await completed(db.sql, made.world, made.dispatchId)
    await eventually(async () => {
      const steps = await db.sql`
        select cascade_step as step, channel_type as channel, destination, text, status from messages
        where company_id = ${made.world.companyId} and cascade_step = 2`
      expect(steps).toEqual([
        { step: 2, channel: 'SMS', destination: '79160000003', text: 'Dear Boris, hello', status: 'FAILED' },
      ])
    })
    await expectBooksInOrder(db.sql, made.world)
  })

  test('that the partner stopped can be ended, and its waiting messages fail', async () => {
    const cascade = [
      step({ channelType: 'VK', senderName: 'shop', text: 'Hello', condition: 'not_delivered', ttl: 3600 }),
      step({ text: 'Hello again' }),
    ]
    const made = await aFilled(someRecipients(3), { channelType: 'VK', senderName: 'shop', cascade })
    const { partner, companyId } = made.world
    const now = new Date()
    await start(made)
    const rows = await db.sql<{ uuid: string }[]>`
      select message_uuid as uuid from messages where dispatch_id = ${made.dispatchId} order by dispatch_position`
    const [gone, sent] = rows.map(({ uuid }) => uuid)
    const cascades = { numbering: () => numbering, linkBase: 'http://localhost/s' }
    const record = (...statusReports: StatusReport[]) =>
      recordStatusReports(db.sql, companyId, statusReports, { billingZone, now, cascades })
    const failed = { status: 'FAILED' as const, at: now }
    await record({ uuid: gone!, sentAt: now, final: failed }, { uuid: sent!, sentAt: now }) // the failed message leads to its next step
    await stopDispatch(db.sql, partner, made.dispatchId, { billingZone, now })

    await end(made)
    await expectBooksInOrder(db.sql, made.world)
    await expect(end(made)).rejects.toMatchObject({ kind: 'dispatch_status' })
    await endLanes()
    await endStopped(db.sql, { billingZone, now })
    await record({ uuid: sent!, final: failed })
    const fates = await db.sql`
      select cascade_step as step, status, error_code as code from messages where company_id = ${companyId}
      order by cascade_step, sent_at nulls last, error_code`
    expect(fates).toEqual([
      { step: 1, status: 'FAILED', code: null },
      { step: 1, status: 'FAILED', code: null },
      { step: 1, status: 'FAILED', code: 454 },
      { step: 2, status: 'FAILED', code: 454 },
    ])
    expect((await shown(made)).status).toBe('COMPLETED')
    await expectPaid(db.sql, made.world, 0n)
  })
})
