import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Channel, Outgoing } from '../../channels/channel.ts'
import type { PagedLane } from '../../domain/lanes/lane.ts'
import { takeChunk } from '../../domain/lanes/lanes.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aLiveGateway, aStartedDispatch } from '../../testing/live-gateways.ts'
import { billingZone, stop } from '../../testing/world.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import { Recorder } from '../recording/recorder.ts'
import { ActiveChunks, type ActiveChunksContext, messagesPerSecond } from './active-chunks.ts'

const MESSAGES = 5
const db = useDatabase()
const worker = crypto.randomUUID()
const clock = () => new Date()
const log = pino({ level: 'silent' })
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(() => db.sql`update lanes set open = false`)

/** A channel that accepts messages one by one. `onMessage` runs before the next message is submitted. */
function anOperator(onMessage: (count: number) => Promise<void> | void = () => {}) {
  const submitted: Outgoing[] = []
  const channel: Channel = {
    window: 1000,
    health: () => ({ up: true }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        submitted.push(message)
        report(index, { kind: 'accepted', providerIds: [`id ${message.uuid}`] })
        await onMessage(submitted.length)
      }
    },
  }
  return { submitted, gateway: aLiveGateway(1, {}, channel) }
}

/** Active chunks that note the returned parts instead of writing them. `fitting` messages fit into each allowance. */
function someChunks(given: Partial<ActiveChunksContext> = {}, fitting = Number.POSITIVE_INFINITY) {
  const returned: number[] = []
  let wakeUps = 0
  const chunks = new ActiveChunks({
    sql: db.sql,
    clock,
    log,
    recorder: new Recorder({ sql: db.sql, clock, log, billingZone }),
    billingZone,
    worker,
    allowances: {
      draw: async () => ({ limits: [], parts: 0, retryAt: clock() }),
      giveBack: async (_, parts) => void returned.push(parts),
      fittingCount: async messages => Math.min(messages.length, fitting),
    },
    gateways: { carriersOf: () => new Set() },
    isStopping: () => false,
    wakeUp: () => void wakeUps++,
    onReturned: () => {},
    ...given,
  })
  return { chunks, returned, wakeUps: () => wakeUps }
}

/** Leases all messages of the lane and sends them with an allowance of ten parts. */
async function sendAll(chunks: ActiveChunks, lane: PagedLane, gateway: LiveGateway, askedAt = performance.now()) {
  const lease = await takeChunk(db.sql, lane, MESSAGES, worker)
  if (!lease) throw new Error('The lane has no messages')
  const allowance = { limits: [], parts: 10, retryAt: clock() }
  await chunks.send(lane, lease, { gateway, allowance, mostMessages: 100 }, askedAt)
}

const leasesOf = ({ companyId, laneId }: PagedLane) =>
  db.sql<{ messages: number; worker: string | null }[]>`
    select (next_seq - first_seq)::int as messages, worker from leases
    where company_id = ${companyId} and lane_id = ${laneId} order by first_seq`

test('a sent chunk ends its lease, frees its place at the gateway and returns the parts that it did not need', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks, returned, wakeUps } = someChunks()
  const busy: number[] = []
  const { gateway, submitted } = anOperator(() => void busy.push(gateway.busy))
  await sendAll(chunks, lane, gateway)
  expect(submitted).toHaveLength(MESSAGES)
  expect(new Set(busy)).toEqual(new Set([1 / 32])) // the smallest part of a place
  expect({ busy: gateway.busy, returned, wakeUps: wakeUps() }).toEqual({
    busy: 0,
    returned: [10 - MESSAGES],
    wakeUps: 1,
  })
  expect(await leasesOf(lane)).toEqual([])
})

test('messages that do not fit into the allowance return to the lane', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks, returned } = someChunks({}, 2)
  const { gateway, submitted } = anOperator()
  await sendAll(chunks, lane, gateway)
  expect(submitted).toHaveLength(2)
  expect(returned).toEqual([8])
  expect(await leasesOf(lane)).toEqual([{ messages: MESSAGES - 2, worker: null }])
})

test('no further message is submitted once the engine stops', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { gateway, submitted } = anOperator()
  const { chunks } = someChunks({ isStopping: () => submitted.length > 0 })
  await sendAll(chunks, lane, gateway)
  expect(submitted).toHaveLength(1)
  expect(await leasesOf(lane)).toEqual([{ messages: MESSAGES - 1, worker: null }])
})

test('no further message is submitted through a gateway that is paused', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { gateway, submitted } = anOperator(() => void Object.assign(gateway.gateway, { paused: true }))
  await sendAll(someChunks().chunks, lane, gateway)
  expect(submitted).toHaveLength(1)
})

test('no message is submitted when the answer to the request for the lease took nearly as long as the lease', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { gateway, submitted } = anOperator()
  await sendAll(someChunks().chunks, lane, gateway, performance.now() - 7000)
  expect(submitted).toEqual([])
})

test('a chunk is not sent any further after another worker has taken its lease', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks } = someChunks()
  const { gateway, submitted } = anOperator(async () => {
    await db.sql`update leases set token = gen_random_uuid() where company_id = ${lane.companyId}`
    await chunks.renew()
  })
  await sendAll(chunks, lane, gateway)
  expect(submitted).toHaveLength(1)
})

test('a chunk whose lease is renewed is sent to its end', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks } = someChunks()
  const { gateway, submitted } = anOperator(() => chunks.renew())
  await sendAll(chunks, lane, gateway)
  expect(submitted).toHaveLength(MESSAGES)
})

test('a chunk is sent to its end while the renewal for another company gets no answer', async () => {
  const silent = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const other = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks } = someChunks()
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const first = anOperator(() => isOver)
  const second = anOperator(() => chunks.renew())
  const sending = sendAll(chunks, silent.lane, first.gateway)
  await eventually(() => expect(first.submitted).toHaveLength(1))
  await db.sql.begin(async sql => {
    await sql`select from leases where company_id = ${silent.lane.companyId} for update`
    await sendAll(chunks, other.lane, second.gateway, performance.now() - 2000) // four seconds are left to renew it
  })
  end()
  await sending
  expect([first.submitted.length, second.submitted.length]).toEqual([MESSAGES, MESSAGES])
})

test('a chunk whose lease is renewed late goes on when no other worker has taken it', async () => {
  const { lane } = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks } = someChunks()
  const { gateway, submitted } = anOperator(async count => {
    if (count === 1) await pause(5000)
    await chunks.renewLate()
  })
  await sendAll(chunks, lane, gateway, performance.now() - 1000)
  expect(submitted).toHaveLength(MESSAGES)
})

test('a chunk of a stopped dispatch is not sent any further, and other chunks are', async () => {
  const stopped = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const other = await aStartedDispatch(db.sql, numbering, MESSAGES)
  const { chunks } = someChunks()
  const { promise: isBlocked, resolve } = Promise.withResolvers<void>()
  const first = anOperator(async () => {
    await stop(db.sql, stopped.world, stopped.dispatchId)
    await eventually(async () => expect(second.submitted).toHaveLength(1))
    await chunks.block()
    resolve()
  })
  const second = anOperator(() => isBlocked)
  await Promise.all([sendAll(chunks, stopped.lane, first.gateway), sendAll(chunks, other.lane, second.gateway)])
  expect([first.submitted.length, second.submitted.length]).toEqual([1, MESSAGES])
})

test('the next chunk of a gateway has the size of its window at least, and of a second of its measured rate', () => {
  const gateway = aLiveGateway(1) // its window has 100 places
  expect(messagesPerSecond(undefined, 500)).toBe(500)
  expect(messagesPerSecond(gateway, 500)).toBe(100)
  expect(messagesPerSecond({ ...gateway, partsPerSecond: 20 }, 500)).toBe(100)
  expect(messagesPerSecond({ ...gateway, partsPerSecond: 249.5 }, 500)).toBe(250)
  expect(messagesPerSecond({ ...gateway, partsPerSecond: 9000 }, 500)).toBe(500)
})
