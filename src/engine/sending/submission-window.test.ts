import { beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { acceptSingles } from '../../domain/singles/singles.ts'
import { PATIENT, useDatabase } from '../../testing/database.ts'
import { aChannel, aGateway, completed, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aSingle } from '../../testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../testing/world.ts'
import { SubmissionWindow } from './submission-window.ts'

describe('the window', () => {
  test('admits as many messages as were reserved, and no more', async () => {
    const window = new SubmissionWindow(10)
    const first = await window.reserve(6)
    const second = await window.reserve(3)
    expect(Array.from({ length: 7 }, () => window.enter(first))).toEqual([...Array(6).fill(true), false])
    expect(Array.from({ length: 4 }, () => window.enter(second))).toEqual([true, true, true, false])
  })

  test('serves waiting reservations in the order of their requests, large ones too', async () => {
    const window = new SubmissionWindow(10)
    const first = await window.reserve(8)
    const order: string[] = []
    const large = window.reserve(9).then(() => order.push('large'))
    const small = window.reserve(1).then(() => order.push('small'))
    while (window.enter(first));
    window.leave(8)
    await Promise.all([large, small])
    expect(order).toEqual(['large', 'small'])
  })

  test('makes a reservation wait until others leave or give back their places', async () => {
    const window = new SubmissionWindow(10)
    const reservation = await window.reserve(10)
    let isIn = false
    const waiting = window.reserve(5).then(() => {
      isIn = true
    })
    for (let i = 0; i < 6; i++) window.enter(reservation)
    window.cancel(reservation)
    await Promise.resolve()
    expect(isIn).toBe(false)
    window.leave(1)
    await waiting
    expect(isIn).toBe(true)
  })

  test('a slice larger than the window does not wait for ever', async () => {
    const window = new SubmissionWindow(10)
    expect(await window.reserve(1000)).toEqual({ left: 10 })
  })

  test('codes enter at once although slices wait for room, and they occupy places', async () => {
    const window = new SubmissionWindow(10)
    const slice = await window.reserve(10)
    let isIn = false
    const waiting = window.reserve(5).then(() => {
      isIn = true
    })
    const codes = window.reserveAtOnce(2)
    expect([window.enter(codes), window.enter(codes), window.enter(codes)]).toEqual([true, true, false])
    while (window.enter(slice));
    window.leave(6) // twelve places: six are open, two of them codes, so five more do not fit
    await Promise.resolve()
    expect(isIn).toBe(false)
    window.leave(2)
    await waiting
  })
})

describe('an engine whose results cannot be recorded', () => {
  const db = useDatabase()
  const { anEngine } = useEngines(db)
  let numbering: Numbering

  beforeAll(async () => {
    numbering = await loadNumbering(db.sql)
  })

  test('submits at most 6,000 messages, and continues when they are recorded', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8000))
    await start(db.sql, world, dispatchId)
    const operator = aChannel(() => ({ kind: 'accepted', delivered: true }))
    const blocker = connect(db.url, { max: 1, ...PATIENT })
    await blocker.begin(async sql => {
      await sql`select from accounts where company_id = ${world.companyId} for update`
      await anEngine({ connect: operator.connect })
      await eventually(() => expect(operator.handed).toHaveLength(6000))
      for (let i = 0; i < 50; i++) await sql`select pg_sleep(0.01)` // messages beyond the limit would arrive now
      expect(operator.handed).toHaveLength(6000)
    })
    await blocker.end({ timeout: 1 })
    await completed(db.sql, world, dispatchId)
    expect(new Set(operator.handed.map(({ uuid }) => uuid)).size).toBe(8000)
    expect(operator.handed).toHaveLength(8000)
  })

  test('submits codes of other companies while slices of bulk messages wait for room', async () => {
    const [stuck, other] = [await aWorld(db.sql), await aWorld(db.sql)]
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, stuck, someRecipients(8000))
    await start(db.sql, stuck, dispatchId)
    const operator = aChannel(() => ({ kind: 'accepted', delivered: true }))
    const blocker = connect(db.url, { max: 1, ...PATIENT })
    await blocker.begin(async sql => {
      await sql`select from accounts where company_id = ${stuck.companyId} for update`
      await anEngine({ connect: operator.connect })
      await eventually(() => expect(operator.handed).toHaveLength(6000))
      const code = aSingle(other.senders[0]!, { priority: 0, destination: '79162000377' })
      await acceptSingles(db.sql, other.companyId, [code], { billingZone, now: new Date() })
      await eventually(() => expect(operator.handed.at(-1)!.destination).toBe('79162000377'))
    })
    await blocker.end({ timeout: 1 })
    await completed(db.sql, stuck, dispatchId)
  })
})
