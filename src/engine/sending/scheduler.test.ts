import { pino } from 'pino'
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Channel, Outgoing } from '../../channels/channel.ts'
import { CODES } from '../../domain/lanes/lane.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aLiveGateway, aStartedDispatch } from '../../testing/live-gateways.ts'
import { billingZone } from '../../testing/world.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import { Recorder } from '../recording/recorder.ts'
import { Scheduler } from './scheduler.ts'

const db = useDatabase()
const clock = () => new Date()
const log = pino({ level: 'silent' })
const schedulers = new Set<Scheduler>()
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

afterEach(async () => {
  await Promise.all([...schedulers].map(scheduler => scheduler.stop()))
  schedulers.clear()
  await db.sql`update lanes set open = false`
})

/** A channel that accepts every message after `answer` has resolved. */
function anOperator(answer: (message: Outgoing) => Promise<void> = async () => {}, window = 1000) {
  const submitted: Outgoing[] = []
  const channel: Channel = {
    window,
    health: () => ({ up: true }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        submitted.push(message)
        await answer(message)
        report(index, { kind: 'accepted', providerIds: [`id ${message.uuid}`] })
      }
    },
  }
  return { submitted, gateway: aLiveGateway(1, {}, channel) }
}

/** A scheduler with one gateway. It does not read the lanes again by itself unless the test gives a shorter pause. */
function aScheduler(gateway: LiveGateway, idleMs = 600_000): Scheduler {
  const scheduler = new Scheduler({
    sql: db.sql,
    clock,
    log,
    billingZone,
    recorder: new Recorder({ sql: db.sql, clock, log, billingZone }),
    worker: crypto.randomUUID(),
    gateways: {
      serving: () => ({ known: true, up: [gateway], isElsewhere: false }),
      carriersOf: () => new Set(),
      ofChannel: () => ({ up: [gateway], all: 1 }),
    },
    idleMs,
  })
  schedulers.add(scheduler)
  return scheduler
}

const leases = () => db.sql`select from leases where worker is not null`

test('all lanes of a dispatch are sent, each message once', async () => {
  await aStartedDispatch(db.sql, numbering, 3)
  const { gateway, submitted } = anOperator()
  aScheduler(gateway)
  await eventually(async () => expect(submitted).toHaveLength(12))
  await eventually(async () => expect(await leases()).toEqual([]))
  expect(new Set(submitted.map(({ uuid }) => uuid)).size).toBe(12)
})

test('a scheduler without work reads the lanes again at once when it is woken', async () => {
  const { gateway, submitted } = anOperator()
  const scheduler = aScheduler(gateway)
  await aStartedDispatch(db.sql, numbering, 1)
  await eventually(async () => {
    scheduler.wake()
    expect(submitted).toHaveLength(4)
  })
})

test('a scheduler without work reads the lanes again after its pause', async () => {
  const { gateway, submitted } = anOperator()
  aScheduler(gateway, 20)
  await aStartedDispatch(db.sql, numbering, 1)
  await eventually(async () => expect(submitted).toHaveLength(4))
})

test('stopping waits for the message that is being submitted, and returns the rest to its lane', async () => {
  await aStartedDispatch(db.sql, numbering, 3)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { gateway, submitted } = anOperator(() => answered)
  const scheduler = aScheduler(gateway)
  await eventually(async () => expect(submitted.length).toBeGreaterThan(0))
  let isStopped = false
  const stopped = scheduler.stop().then(() => {
    isStopped = true
  })
  const count = submitted.length
  await eventually(async () => expect(await leases()).not.toEqual([]))
  expect(isStopped).toBe(false)
  answer()
  await stopped
  expect(await leases()).toEqual([])
  expect(submitted.length).toBe(count)
})

test('a code is sent while other messages occupy all places of the gateway', async () => {
  await aStartedDispatch(db.sql, numbering, 3)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const isCode = new Set<string>()
  const { gateway, submitted } = anOperator(({ uuid }) => (isCode.has(uuid) ? Promise.resolve() : answered))
  const scheduler = aScheduler(gateway)
  await eventually(async () => expect(gateway.busy).toBe(3))
  const codes = await aStartedDispatch(db.sql, numbering, 1)
  const rows = await db.sql<
    { uuid: string }[]
  >`select message_uuid as uuid from messages where company_id = ${codes.world.companyId}`
  for (const { uuid } of rows) isCode.add(uuid)
  await db.sql`update lanes set priority = ${CODES} where company_id = ${codes.world.companyId}`
  scheduler.wake()
  await eventually(async () => expect(submitted.filter(({ uuid }) => isCode.has(uuid))).toHaveLength(4))
  expect(submitted).toHaveLength(4 + 3) // the fourth lane of the other dispatch still waits for a place
  answer()
})
