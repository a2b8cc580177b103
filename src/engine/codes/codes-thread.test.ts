import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Channel, Feed, Outgoing, SendResult } from '../../channels/channel.ts'
import { connect } from '../../db/sql.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { addGateway, changeGateway } from '../../domain/gateways/gateways.ts'
import { waitForEngines } from '../../domain/gateways/monitoring/states.ts'
import { gatewayKey } from '../../domain/gateways/secrets.ts'
import { CODES } from '../../domain/lanes/lane.ts'
import { acceptSingles } from '../../domain/singles/singles.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aSingle } from '../../testing/factories.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import type { EngineOptions } from '../context.ts'

const db = useDatabase()
const { anEngine, stopEngine } = useEngines(db)

const threadFile = new URL('../../testing/codes-thread.ts', import.meta.url)

/** An engine with a codes thread. It tells how many threads were started, what the engine logged, and the errors of the threads. */
async function anEngineWithThread(given: Partial<EngineOptions> = {}, ofThread: { failsAfterMs?: number } = {}) {
  const threads: Worker[] = []
  const lines: { msg: string }[] = []
  const errors: string[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  const startCodesThread = () => {
    const thread = new Worker(threadFile, { workerData: { url: db.url, ...ofThread }, stderr: true })
    thread.stderr.on('data', text => errors.push(String(text)))
    threads.push(thread)
    return thread
  }
  const engine = await anEngine({ log, startCodesThread, ...given })
  return { engine, threads, lines, errors }
}

async function sendCode({ companyId, senders }: World): Promise<string> {
  const code = aSingle(senders[0]!, { priority: CODES, trafficType: 'AUTHORIZE' })
  const [answer] = await acceptSingles(db.sql, companyId, [code], { billingZone, now: new Date() })
  if (answer?.kind !== 'accepted') throw new Error('the code was refused')
  return answer.uuid
}

async function statusOf(uuid: string): Promise<string> {
  const [row] = await db.sql<{ status: string; errorCode: number | null }[]>`
    select status, error_code from messages where message_uuid = ${uuid}`
  return [row!.status, row!.errorCode ?? []].flat().join(' ')
}

const untilStatus = (uuid: string, status: string) => eventually(async () => expect(await statusOf(uuid)).toBe(status))

/** The codes thread has its own name at the database. It is ready when it has sent a code. */
const isThreadConnected = async () =>
  (await db.sql`select from pg_stat_activity where application_name = 'tidings codes' and datname = current_database()`)
    .length > 0

test('the first code is sent by the engine itself, and starts the thread', async () => {
  await aGateway(db.sql)
  const { threads, lines, errors } = await anEngineWithThread()
  expect(threads).toHaveLength(0)
  await untilStatus(await sendCode(await aWorld(db.sql)), 'DELIVERED')
  await eventually(async () => expect(await isThreadConnected()).toBe(true))
  await untilReady(lines)
  expect(threads).toHaveLength(1)
  expect(errors).toEqual([])
})

test('a code is delivered while all connections of the engine are held', async () => {
  await aGateway(db.sql)
  const world = await aWorld(db.sql)
  const sql = connect(db.url, { max: 4 })
  const { engine, lines } = await anEngineWithThread({ sql })
  await untilThreadSends(world, lines)
  const release = Promise.withResolvers<void>()
  const held = Array.from({ length: 4 }, () => sql.begin(() => release.promise))
  await untilStatus(await sendCode(world), 'DELIVERED')
  release.resolve()
  await Promise.all(held)
  await stopEngine(engine)
  await sql.end({ timeout: 1 })
})

const untilReady = (lines: { msg: string }[]) =>
  eventually(() => expect(lines.map(({ msg }) => msg)).toContain('codes_thread.ready'))

/** Sends a code, and waits until the thread that it starts is ready. */
async function untilThreadSends(world: World, lines: { msg: string }[]) {
  await untilStatus(await sendCode(world), 'DELIVERED')
  await untilReady(lines)
}

/** A gateway whose connection the main thread has. */
async function aLentGateway(answer: (message: Outgoing) => SendResult | Promise<SendResult>) {
  const submitted: string[] = []
  const feeds: Feed[] = []
  const channel: Channel = {
    window: 10,
    health: () => ({ up: true }),
    async stop() {},
    async submit(batch, report, mayGo) {
      for (const [index, message] of batch.entries()) {
        if (!mayGo(index)) continue
        submitted.push(message.uuid)
        report(index, await answer(message))
      }
    },
  }
  const gateway = await addGateway(db.sql, {
    name: 'lent',
    channelType: 'SMS',
    connector: 'http',
    brands: [],
    settings: {},
    partsPerSecond: null,
  })
  const connect = (_: Gateway, feed: Feed) => {
    feeds.push(feed)
    return channel
  }
  return { gateway: gateway!, submitted, feeds, connect }
}

test.each<[string, SendResult, string]>([
  ['accepted', { kind: 'accepted', delivered: true }, 'DELIVERED'],
  ['refused', { kind: 'refused', errorCode: 601, reason: 'no' }, 'FAILED 601'],
])(
  'a code is submitted once over the connection of the main thread, and its result %s is recorded',
  async (...given) => {
    const [, result, status] = given
    const { submitted, connect } = await aLentGateway(() => result)
    const world = await aWorld(db.sql)
    await anEngineWithThread({ connect })
    const first = await sendCode(world)
    await untilStatus(first, status)
    await eventually(async () => expect(await isThreadConnected()).toBe(true))
    const codes: string[] = []
    for (let i = 0; i < 5; i++) codes.push(await sendCode(world))
    for (const code of codes) await untilStatus(code, status)
    expect(submitted.toSorted()).toEqual([first, ...codes].toSorted())
  },
)

test('when the thread fails, the engine sends its codes, and starts no other thread at once', async () => {
  const isSlow = { now: false }
  const yes: SendResult = { kind: 'accepted', delivered: true }
  const answered = Promise.withResolvers<SendResult>()
  const { submitted, connect } = await aLentGateway(() => (isSlow.now ? answered.promise : yes))
  const world = await aWorld(db.sql)
  const { threads, lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  isSlow.now = true
  const open = await sendCode(world)
  await eventually(() => expect(submitted).toContain(open))
  await threads[0]!.terminate()
  isSlow.now = false
  answered.resolve(yes) // the answer for a thread that is gone
  await untilStatus(await sendCode(world), 'DELIVERED')
  await untilStatus(open, 'DELIVERED') // when its lease has expired, as after a kill
  expect(threads).toHaveLength(1)
})

test('an error of the thread is logged, and the engine sends codes', async () => {
  await aGateway(db.sql)
  const world = await aWorld(db.sql)
  const { lines } = await anEngineWithThread({}, { failsAfterMs: 0 })
  await untilStatus(await sendCode(world), 'DELIVERED')
  await eventually(() => expect(lines.map(({ msg }) => msg)).toContain('codes_thread.failed'))
  await untilStatus(await sendCode(world), 'DELIVERED')
})

test('codes of other companies are sent while the accounts of three are locked', async () => {
  await aGateway(db.sql)
  const { lines } = await anEngineWithThread()
  await untilThreadSends(await aWorld(db.sql), lines)
  const worlds = [await aWorld(db.sql), await aWorld(db.sql), await aWorld(db.sql)]
  const release = Promise.withResolvers<void>()
  const isTaken = async () => (await db.sql`select from simulator_outbox()`).length
  const before = await isTaken()
  for (const world of worlds) await sendCode(world)
  const locks = worlds.map(({ companyId }) =>
    db.sql.begin(async sql => {
      await sql`select from accounts where company_id = ${companyId} for update`
      await release.promise
    }),
  )
  await eventually(async () => expect(await isTaken()).toBe(before + 3))
  await sendCode(await aWorld(db.sql))
  await eventually(async () => expect(await isTaken()).toBe(before + 4))
  release.resolve()
  await Promise.all(locks)
})

test('the engine waits for the codes of its thread when it stops', async () => {
  const answered = Promise.withResolvers<SendResult>()
  const isSlow = { now: false }
  const yes: SendResult = { kind: 'accepted', delivered: true }
  const { submitted, connect } = await aLentGateway(() => (isSlow.now ? answered.promise : yes))
  const world = await aWorld(db.sql)
  const { engine, lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  isSlow.now = true
  const code = await sendCode(world)
  await eventually(() => expect(submitted).toContain(code))
  const stopped = stopEngine(engine)
  answered.resolve(yes)
  await stopped
  expect(await statusOf(code)).toBe('DELIVERED')
  expect(await db.sql`select from leases where worker is not null`).toEqual([])
  await eventually(async () => expect(await isThreadConnected()).toBe(false))
})

const rules = { key: gatewayKey('a secret of the test'), secretNames: [], check: () => {} }

test('when every engine knows that a gateway is paused, no waiting code of the thread goes through it', async () => {
  const answers: (() => void)[] = []
  const isSlow = { now: false }
  const yes: SendResult = { kind: 'accepted', delivered: true }
  const slowly = () => new Promise<SendResult>(resolve => answers.push(() => resolve(yes)))
  const { gateway, submitted, connect } = await aLentGateway(() => (isSlow.now ? slowly() : yes))
  const world = await aWorld(db.sql)
  const { lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  isSlow.now = true
  const { companyId, senders } = world
  const codes = [1, 2, 3].map(() => aSingle(senders[0]!, { priority: CODES, trafficType: 'AUTHORIZE' }))
  await acceptSingles(db.sql, companyId, codes, { billingZone, now: new Date() })
  await eventually(() => expect(answers).toHaveLength(1)) // the others wait behind it
  const paused = await changeGateway(db.sql, gateway.gatewayId, { paused: true }, rules)
  expect(await waitForEngines(db.sql, paused)).toBe(0)
  const before = submitted.length
  for (const answer of answers) answer()
  isSlow.now = false
  await eventually(async () => expect(await db.sql`select from leases where worker is not null`).toEqual([]))
  expect(submitted).toHaveLength(before)
  await changeGateway(db.sql, gateway.gatewayId, { paused: false }, rules)
  await eventually(() => expect(submitted).toHaveLength(before + 2))
})

test('the thread tells that it is alive while the database does not answer it', async () => {
  await aGateway(db.sql)
  const world = await aWorld(db.sql)
  const { threads, lines } = await anEngineWithThread()
  await untilThreadSends(world, lines)
  const release = Promise.withResolvers<void>()
  const lock = db.sql.begin(async sql => {
    await sql`lock table gateway_minutes, gateway_states, gateways in access exclusive mode`
    await release.promise
  })
  await pause(3000) // the loops of the thread wait for the lock by now
  const said: string[] = []
  threads[0]!.on('message', ({ kind }: { kind: string }) => said.push(kind))
  await pause(3000)
  release.resolve()
  await lock
  expect(said).toContain('alive')
})

test('after an error of a connection a code is not tried again at once', async () => {
  const { submitted, connect } = await aLentGateway(() => {
    if (submitted.length > 1) throw new Error('the connection broke')
    return { kind: 'accepted', delivered: true }
  })
  const world = await aWorld(db.sql)
  const { lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  const code = await sendCode(world)
  await eventually(() => expect(submitted).toContain(code))
  await pause(700)
  expect(submitted.filter(uuid => uuid === code)).toHaveLength(1)
  await eventually(() => expect(submitted.filter(uuid => uuid === code).length).toBeGreaterThan(1))
})

test('a slow operator gets all codes, one after the other', async () => {
  const { submitted, connect } = await aLentGateway(async () => {
    await new Promise(resolve => setTimeout(resolve, 400))
    return { kind: 'accepted', delivered: true }
  })
  const world = await aWorld(db.sql)
  const { lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  const codes = [1, 2, 3, 4, 5, 6].map(() => aSingle(world.senders[0]!, { priority: CODES, trafficType: 'AUTHORIZE' }))
  await acceptSingles(db.sql, world.companyId, codes, { billingZone, now: new Date() })
  await eventually(() => expect(submitted).toHaveLength(7))
  const leases = await db.sql<{ attempts: number }[]>`select attempts from leases where company_id = ${world.companyId}`
  expect(leases.map(({ attempts }) => attempts)).toEqual([0]) // all are of one chunk, which did not return
})

/** Much longer than a code needs to the main thread. A failure must end. */
const LONGEST_WORK_MS = 120_000

test('a code is submitted while the main thread works without a pause', async () => {
  const { submitted, feeds, connect } = await aLentGateway(() => ({ kind: 'accepted', delivered: true }))
  const world = await aWorld(db.sql)
  const { lines } = await anEngineWithThread({ connect })
  await untilThreadSends(world, lines)
  const code = await sendCode(world)
  const until = performance.now() + LONGEST_WORK_MS
  while (!submitted.includes(code) && performance.now() < until) feeds[0]!.submitCodes?.() // the event loop waits
  expect(submitted).toContain(code)
  await untilStatus(code, 'DELIVERED')
})
