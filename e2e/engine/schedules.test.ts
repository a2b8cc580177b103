import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import type { Schedule } from '../../src/domain/dispatches/dispatch.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import {
  aChannel,
  aClock,
  aGateway,
  completed,
  expectBooksInOrder,
  fatesOf,
  useEngines,
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  world = await aWorld(db.sql)
})

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7]
const ALL_HOURS = Array.from({ length: 24 }, (_, hour) => hour)

const moscow = (startAt: string, given: Partial<Schedule> = {}): Schedule => ({
  startAt: new Date(`${startAt}+03:00`),
  offsetMinutes: 180,
  hours: ALL_HOURS,
  days: ALL_DAYS,
  ...given,
})

/** Expects that no message is submitted at the closed times of the Moscow clock, and every message at the open time. */
async function expectHanded(schedule: Schedule, { closed, open }: { closed: string[]; open: string }) {
  const clock = aClock(`${closed[0]}+03:00`)
  const operator = aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8), { schedule })
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect, clock })
  for (const moment of closed) {
    clock.set(`${moment}+03:00`)
    await pause(350)
    expect(operator.handed).toHaveLength(0)
  }
  clock.set(`${open}+03:00`)
  await eventually(() => expect(operator.handed).toHaveLength(8))
  await completed(db.sql, world, dispatchId)
  await expectBooksInOrder(db.sql, world)
}

test('a dispatch sends nothing before its start time', async () => {
  const schedule = moscow('2026-08-01T10:00:00')
  await expectHanded(schedule, {
    closed: ['2026-07-31T23:59:59', '2026-08-01T09:59:59'],
    open: '2026-08-01T10:00:00',
  })
})

test('sending hours across midnight: hours 23 and 0 of Friday and Saturday', async () => {
  const schedule = moscow('2026-07-01T00:00:00', { hours: [23, 0], days: [5, 6] })
  const [thursday, friday, saturday] = ['2026-07-02T23:30:00', '2026-07-03T22:59:59', '2026-07-04T00:30:00'] as const
  await expectHanded(schedule, { closed: [thursday, friday], open: saturday })
})

test('the weekday follows the local clock: half past midnight on Saturday is not Friday', async () => {
  const schedule = moscow('2026-07-01T00:00:00', { hours: [0], days: [5] })
  await expectHanded(schedule, { closed: ['2026-07-04T00:30:00'], open: '2026-07-10T00:00:00' })
})

test('sending hours across a weekend: nine to six on working days', async () => {
  const schedule = moscow('2026-07-01T00:00:00', { hours: [9, 10, 11, 12, 13, 14, 15, 16, 17], days: [1, 2, 3, 4, 5] })
  await expectHanded(schedule, {
    closed: ['2026-07-03T18:00:00', '2026-07-04T10:00:00', '2026-07-06T08:59:59'],
    open: '2026-07-06T09:00:00',
  })
})

test('sending hours that end during a chunk stop it there, and the rest is sent when they begin again', async () => {
  const clock = aClock('2026-07-03T17:59:00+03:00')
  const operator = aChannel(() => {
    if (operator.handed.length === 50) clock.set('2026-07-03T18:00:00+03:00')
    return { kind: 'refused', errorCode: 456, reason: 'no' }
  })
  await aGateway(db.sql)
  const schedule = moscow('2026-07-01T00:00:00', { hours: [17] })
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(400), { schedule })
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect, clock })

  await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 350, 'FAILED 456': 50 }))
  await pause(400)
  expect(operator.handed).toHaveLength(50)
  await expectBooksInOrder(db.sql, world)
  clock.set('2026-07-04T17:00:00+03:00')
  await completed(db.sql, world, dispatchId)
  expect(operator.handed).toHaveLength(400)
  expect(new Set(operator.handed.map(({ uuid }) => uuid)).size).toBe(400)
  await expectBooksInOrder(db.sql, world)
})

test('three hundred dispatches that wait for their weekday do not delay a dispatch that may send', async () => {
  const clock = aClock('2026-07-03T12:00:00+03:00')
  const operator = aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))
  await aGateway(db.sql)
  const waiting = await aDispatch(db.sql, numbering, world, someRecipients(4), {
    schedule: moscow('2026-08-01T00:00:00'),
  })
  await start(db.sql, world, waiting)
  await db.sql`
    insert into lanes (company_id, dispatch_id, channel_type, sender_id, brand_id, priority, zone, tail, open)
    select company_id, dispatch_id, channel_type, sender_id, brand_id, priority, n::text, 1, true
    from lanes, generate_series(1, 300) n where dispatch_id = ${waiting}`
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
  await start(db.sql, world, dispatchId)
  await anEngine({ connect: operator.connect, clock })
  await completed(db.sql, world, dispatchId)
  expect(operator.handed).toHaveLength(40)
})
