import { afterEach, beforeAll, expect, test } from 'vitest'
import { readAnnouncement } from '../../domain/lanes/announcements.ts'
import { CODES } from '../../domain/lanes/lane.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { acceptSingles } from '../../domain/singles/singles.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aSingle } from '../../testing/factories.ts'
import { aStartedDispatch } from '../../testing/live-gateways.ts'
import { anOperator, schedulerWith } from '../../testing/schedulers.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../testing/world.ts'
import type { LiveGateway } from '../gateways/gateways.ts'
import type { Scheduler } from './scheduler.ts'

const db = useDatabase()
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

/** It stops after the test. */
function aScheduler(gateway: LiveGateway, idleMs?: number): Scheduler {
  const scheduler = schedulerWith(db.sql, db.sql, gateway, idleMs)
  schedulers.add(scheduler)
  return scheduler
}

/** With a message in each of four lanes. A scheduler may send them before this function returns. */
async function startDispatch() {
  const world = await aWorld(db.sql)
  await start(db.sql, world, await aDispatch(db.sql, numbering, world, someRecipients(4)))
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
  await startDispatch()
  await eventually(async () => {
    scheduler.wake()
    expect(submitted).toHaveLength(4)
  })
})

test('a scheduler without work reads the lanes again after its pause', async () => {
  const { gateway, submitted } = anOperator()
  aScheduler(gateway, 20)
  await startDispatch()
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
  const ofOneChunk = 3 // so that each chunk takes a whole place
  const { gateway, submitted } = anOperator(({ uuid }) => (isCode.has(uuid) ? Promise.resolve() : answered), ofOneChunk)
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

test('the API announces the queue of a code, and the announcement wakes the loop of codes', async () => {
  const { gateway, submitted } = anOperator()
  const scheduler = aScheduler(gateway)
  const { companyId, senders } = await aWorld(db.sql)
  const heard: string[] = []
  const { unlisten } = await db.sql.listen('tidings_lanes', announcement => heard.push(announcement))
  await acceptSingles(db.sql, companyId, [aCode(senders[0]!)], { billingZone, now: new Date() })
  await eventually(() => expect(heard).toEqual([`${CODES} ${companyId} SMS`]))
  await unlisten()
  scheduler.wake(readAnnouncement(heard[0]!))
  await eventually(() => expect(submitted).toHaveLength(1))
})

const aCode = (sender: Parameters<typeof aSingle>[0]) => aSingle(sender, { priority: CODES, trafficType: 'AUTHORIZE' })
