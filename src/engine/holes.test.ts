import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../base/money.ts'
import { addMessages } from '../domain/dispatches/dispatches.ts'
import { loadNumbering, type Numbering } from '../domain/numbering/numbering.ts'
import { acceptSingles } from '../domain/singles/singles.ts'
import { useDatabase } from '../testing/database.ts'
import {
  aChannel,
  aGateway,
  completed,
  expectBooksInOrder,
  expectPaid,
  fatesOf,
  handedOver,
  progressOf,
  useEngines,
} from '../testing/engines.ts'
import { eventually } from '../testing/eventually.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../testing/world.ts'

/** The holes that design section 3 names, one by one. */

const db = useDatabase()
const { anEngine, anEngineProcess } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

const singles = ({ senders }: World, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    channelType: 'SMS' as const,
    senderId: senders[0]!.senderId,
    brandId: 1,
    priority: 0,
    destination: `7916${String(10_000 + i)}77`,
    text: 'Code 4321',
    parts: 1,
    tariffId: null,
    price: money('3.90'),
  }))

const accept = (world: World, count: number) =>
  acceptSingles(db.sql, world.companyId, singles(world, count), { billingZone, now: new Date() })

const statusesOf = async ({ companyId }: World) => {
  const rows = await db.sql<{ status: string; n: number }[]>`
    select status, count(*) as n from messages where company_id = ${companyId} group by 1`
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

describe('writers', () => {
  test('a cursor never passes a place that is not committed yet, and a slow commit holds up nobody else', async () => {
    const [slow, other] = [await aWorld(db.sql), await aWorld(db.sql)]
    await aGateway(db.sql)
    await accept(slow, 10)
    await anEngine()
    await eventually(async () => expect(await statusesOf(slow)).toEqual({ DELIVERED: 10 }))

    const committing = Promise.withResolvers<void>()
    const writing = Promise.withResolvers<void>()
    const writer = db.sql.begin(async tx => {
      // The driver's transaction stands in for the pool: what acceptSingles writes is committed when we say so.
      const pool = Object.assign(tx, { begin: (work: (sql: typeof tx) => unknown) => work(tx) })
      await acceptSingles(pool as never, slow.companyId, singles(slow, 10), { billingZone, now: new Date() })
      writing.resolve()
      await committing.promise
    })
    await writing.promise
    const next = accept(slow, 10) // waits for the slow one

    await accept(other, 10)
    await eventually(async () => expect(await statusesOf(other)).toEqual({ DELIVERED: 10 }), { withinMs: 1500 })
    expect(await statusesOf(slow)).toEqual({ DELIVERED: 10 })

    committing.resolve()
    await Promise.all([writer, next])
    await eventually(async () => expect(await statusesOf(slow)).toEqual({ DELIVERED: 30 }))
    await expectBooksInOrder(db.sql, slow)
  })

  test('twenty writers at once lose no place', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    await anEngine()
    await Promise.all(Array.from({ length: 20 }, () => accept(world, 25)))
    await eventually(async () => expect(await statusesOf(world)).toEqual({ DELIVERED: 500 }))
    const [places] = await db.sql`
      select count(distinct seq) as seqs, max(seq) as last from messages where company_id = ${world.companyId}`
    expect(places).toEqual({ seqs: 500, last: 499 })
    await expectBooksInOrder(db.sql, world)
  })

  test('messages added while the dispatch is being started are in it or refused, never half', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    await anEngine()
    for (let round = 0; round < 4; round++) {
      const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(40))
      const request = { partner: world.partner, dispatchId, recipients: someRecipients(40), once: undefined }
      const [, ...added] = await Promise.allSettled([
        start(db.sql, world, dispatchId),
        ...Array.from({ length: 4 }, () => addMessages(db.sql, numbering, request)),
      ])
      const total = 40 + 40 * added.filter(({ status }) => status === 'fulfilled').length
      const { messages } = await completed(db.sql, world, dispatchId)
      expect(messages).toEqual({ total, delivered: total, failed: 0, pending: 0 })
      expect(await handedOver(db.sql, dispatchId)).toEqual({ times: total, messages: total })
    }
    await expectBooksInOrder(db.sql, world)
  })
})

describe('stop', () => {
  test('over several rounds of stop and start every message goes out exactly once', async () => {
    const world = await aWorld(db.sql)
    const { gatewayId } = await aGateway(db.sql, { partsPerSecond: 800, settings: { submitMs: 20 } })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4000))
    await Promise.all([anEngine(), anEngine()])
    for (let round = 0; round < 8; round++) {
      await start(db.sql, world, dispatchId)
      await pause(20 + Math.random() * 200)
      await stop(db.sql, world, dispatchId)
      if (round % 3 === 2) await expectNothingHeld(world)
    }
    expect((await progressOf(db.sql, world, dispatchId)).messages.pending).toBeGreaterThan(0)
    await db.sql`update gateways set parts_per_second = null where gateway_id = ${gatewayId}`
    await start(db.sql, world, dispatchId)
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 4000, delivered: 4000 })
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 4000, messages: 4000 })
    await expectPaid(db.sql, world, priceEstimate)
  })

  /** What was on its way has arrived, and the rest holds nothing. */
  const expectNothingHeld = (world: World) =>
    eventually(async () => {
      const [account] = await db.sql`select reserved from accounts where company_id = ${world.companyId}`
      expect(account!.reserved).toBe(0n)
      await expectBooksInOrder(db.sql, world)
    })

  test('the leases of an engine that died before a stop are let go of', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(100))
    await start(db.sql, world, dispatchId)
    await db.sql`
      insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, until)
      select company_id, lane_id, 0, 25, gen_random_uuid(), gen_random_uuid(), now() from lanes
      where dispatch_id = ${dispatchId}`
    await db.sql`update lanes set cursor = 25 where dispatch_id = ${dispatchId}`
    await stop(db.sql, world, dispatchId)
    await anEngine()
    await expectNothingHeld(world)
    await start(db.sql, world, dispatchId)
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(await handedOver(db.sql, dispatchId)).toEqual({ times: 100, messages: 100 })
    await expectPaid(db.sql, world, priceEstimate)
  })
})

describe('outcomes', () => {
  async function through(operator: ReturnType<typeof aChannel>, messages: number) {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect: operator.connect })
    return { world, dispatchId }
  }

  test('handed over without an answer is SENT and not sent again', async () => {
    const operator = aChannel(() => ({ kind: 'unknown', reason: 'timeout' }))
    const { world, dispatchId } = await through(operator, 40)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }))
    await pause(1200)
    expect(operator.handed).toHaveLength(40)
    const ids = await db.sql`select from submissions where company_id = ${world.companyId}`
    expect(ids).toHaveLength(0)
    await expectBooksInOrder(db.sql, world)
  })

  test('a lost connection: what was open goes out again', async () => {
    const operator = aChannel(({ attempts }) =>
      attempts === 0 ? { kind: 'lost', reason: 'reset' } : { kind: 'accepted' },
    )
    const { world, dispatchId } = await through(operator, 40)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }))
    expect(operator.handed).toHaveLength(80)
    await expectBooksInOrder(db.sql, world)
  })

  test('a channel that throws costs no message and no lease', async () => {
    let isBroken = true
    const operator = aChannel(({ destination }) => {
      if (isBroken && destination.endsWith('0577')) throw new Error('broken')
      return { kind: 'accepted' }
    })
    const { world, dispatchId } = await through(operator, 40)
    await eventually(() => expect(operator.handed.length).toBeGreaterThan(20))
    isBroken = false
    // Long before the lease of the broken chunk would have run out.
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }), { withinMs: 4000 })
    expect(operator.handed.length).toBeLessThan(60)
    await expectBooksInOrder(db.sql, world)
  })

  test('a busy operator is asked again, later and later; the others of the chunk are not held up', async () => {
    const tries = new Map<string, number[]>()
    const operator = aChannel(({ uuid, attempts, destination }) => {
      tries.set(uuid, [...(tries.get(uuid) ?? []), performance.now()])
      const isBusy = destination.endsWith('177') && attempts < 3
      return isBusy ? { kind: 'busy', reason: 'throttled', retryAfterMs: 100 } : { kind: 'accepted' }
    })
    const { world, dispatchId } = await through(operator, 400)
    await eventually(async () => expect((await fatesOf(db.sql, dispatchId)).SENT).toBeGreaterThanOrEqual(360), {
      withinMs: 1500,
    })
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 400 }))
    const busy = [...tries.values()].filter(times => times.length > 1)
    expect(busy).toHaveLength(40)
    for (const times of busy) {
      expect(times).toHaveLength(4)
      const [first, second, third] = times.slice(1).map((time, i) => time - times[i]!)
      expect(first).toBeGreaterThan(70)
      expect(second).toBeGreaterThan(145)
      expect(third).toBeGreaterThan(290)
    }
    await expectBooksInOrder(db.sql, world)
  })
})

describe('limits', () => {
  test('two engines do not double the limit of a gateway, counted in parts', async () => {
    const world = await aWorld(db.sql)
    const rate = 100
    await aGateway(db.sql, { partsPerSecond: rate })
    // Two parts each.
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(200), { text: 'a'.repeat(200) })
    await Promise.all([anEngineProcess(), anEngine()])
    await start(db.sql, world, dispatchId)
    const { parts } = await completed(db.sql, world, dispatchId)
    expect(parts.delivered).toBe(400)

    const [most] = await db.sql<{ excess: number }[]>`
      with taken as (
        select extract(epoch from accepted_at)::double precision as at, count(*) * 2 as parts
        from simulator_messages where company_id = ${world.companyId} group by 1)
      select max(sum - ${rate} * (b_at - a_at)) as excess from (
        select a.at as a_at, b.at as b_at,
          (select sum(t.parts) from taken t where t.at between a.at and b.at)::double precision as sum
        from taken a join taken b on b.at >= a.at) spans`
    // One burst, and what was drawn a moment before it was handed over.
    expect(most!.excess).toBeLessThanOrEqual(rate * 1.5)
    await expectBooksInOrder(db.sql, world)
  })

  test('a message longer than its limit passes all the same', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    await db.sql`update senders set parts_per_second = 2 where company_id = ${world.companyId}`
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4), { text: 'a'.repeat(400) })
    await start(db.sql, world, dispatchId)
    await anEngine()
    const { priceEstimate } = await completed(db.sql, world, dispatchId)
    await expectPaid(db.sql, world, priceEstimate)
  })
})
