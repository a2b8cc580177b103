import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { addToBlacklist } from '../../src/domain/blacklist/blacklist.ts'
import { addMessages } from '../../src/domain/dispatches/writing.ts'
import { withinAnySecond } from '../../src/domain/limits/limits.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { acceptSingles, acceptWithin } from '../../src/domain/singles/singles.ts'
import { stopMessages } from '../../src/domain/stopping/stopping.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { drawnInAll, drawsFrom, mostInASecond, watchDraws } from '../../src/testing/draws.ts'
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
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSingle } from '../../src/testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, stop, type World } from '../../src/testing/world.ts'

/** The gaps through which messages could be lost or sent twice, one by one. */

const db = useDatabase()
const { anEngine, anEngineProcess, stopEngine } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

const singles = ({ senders }: World, count: number) =>
  Array.from({ length: count }, (_, i) => aSingle(senders[0]!, { destination: `7916${10_000 + i}77` }))

const accept = (world: World, count: number) =>
  acceptSingles(db.sql, world.companyId, singles(world, count), { billingZone, now: new Date() })

const statusesOf = async ({ companyId }: World) => {
  const rows = await db.sql<{ status: string; n: number }[]>`
    select status, count(*) as n from messages where company_id = ${companyId} group by 1`
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

describe('messages that are added:', () => {
  test('a cursor never passes a place that is not committed yet, and a slow commit delays no other lane', async () => {
    const [slow, other] = [await aWorld(db.sql), await aWorld(db.sql)]
    await aGateway(db.sql)
    await accept(slow, 10)
    await anEngine()
    await eventually(async () => expect(await statusesOf(slow)).toEqual({ DELIVERED: 10 }))

    const committing = Promise.withResolvers<void>()
    const writing = Promise.withResolvers<void>()
    const writer = db.sql.begin(async tx => {
      await acceptWithin(tx, slow.companyId, singles(slow, 10), { billingZone, now: new Date() })
      writing.resolve()
      await committing.promise
    })
    await writing.promise
    const next = accept(slow, 10) // waits for the slow commit

    await accept(other, 10)
    await eventually(async () => expect(await statusesOf(other)).toEqual({ DELIVERED: 10 }))
    expect(await statusesOf(slow)).toEqual({ DELIVERED: 10 })

    committing.resolve()
    await Promise.all([writer, next])
    await eventually(async () => expect(await statusesOf(slow)).toEqual({ DELIVERED: 30 }))
    await expectBooksInOrder(db.sql, slow)
  })

  test('twenty requests at once leave no place of a lane empty', async () => {
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

  test('a request during the start of the dispatch adds all its messages or none', async () => {
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
  test('every message is sent exactly once over several stops and starts', async () => {
    const world = await aWorld(db.sql)
    const { gatewayId } = await aGateway(db.sql, { partsPerSecond: 200, settings: { submitMs: 20 } })
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

  /** Messages that were being sent have arrived, and the others have no reservation. */
  const expectNothingHeld = (world: World) =>
    eventually(async () => {
      const [account] = await db.sql`select reserved from accounts where company_id = ${world.companyId}`
      expect(account!.reserved).toBe(0n)
      await expectBooksInOrder(db.sql, world)
    })

  test('a stop ends the leases of an engine that died before', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(100))
    await start(db.sql, world, dispatchId)
    await db.sql`
      insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
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

describe('results of the channel:', () => {
  async function through(operator: ReturnType<typeof aChannel>, messages: number) {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect: operator.connect })
    return { world, dispatchId }
  }

  test('a message submitted without an answer is SENT and not sent again', async () => {
    const operator = aChannel(() => ({ kind: 'unknown', reason: 'timeout' }))
    const { world, dispatchId } = await through(operator, 40)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }))
    await pause(1200)
    expect(operator.handed).toHaveLength(40)
    const ids = await db.sql`select from submissions where company_id = ${world.companyId}`
    expect(ids).toHaveLength(0)
    await expectBooksInOrder(db.sql, world)
  })

  test('the ids of answered parts are stored, also when another part has no answer', async () => {
    const operator = aChannel(({ uuid }) => ({ kind: 'unknown', reason: 'timeout', taken: { 0: `id ${uuid}` } }))
    const { world, dispatchId } = await through(operator, 4)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 4 }))
    const ids = await db.sql`
      select provider_id as id from submissions where company_id = ${world.companyId} order by provider_id`
    expect(ids.map(({ id }) => id)).toEqual(operator.handed.map(({ uuid }) => `id ${uuid}`).sort())
    expect(operator.handed).toHaveLength(4)
  })

  test('messages that were open on a lost connection are sent again', async () => {
    const operator = aChannel(({ attempts }) =>
      attempts === 0 ? { kind: 'lost', reason: 'reset' } : { kind: 'accepted' },
    )
    const { world, dispatchId } = await through(operator, 40)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 }))
    expect(operator.handed).toHaveLength(80)
    await expectBooksInOrder(db.sql, world)
  })

  test('a channel that throws loses no message and leaves no lease behind', async () => {
    let isBroken = true
    const operator = aChannel(({ destination }) => {
      if (isBroken && destination.endsWith('0577')) throw new Error('broken')
      return { kind: 'accepted' }
    })
    const { world, dispatchId } = await through(operator, 40)
    await eventually(() => expect(operator.handed.length).toBeGreaterThan(20))
    isBroken = false
    // The engine itself returns the failed chunk. No lease runs out in this test.
    let expired = 0
    await eventually(async () => {
      expired += (await db.sql`select from leases where worker is not null and claimed_until < clock_timestamp()`)
        .length
      expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 40 })
    })
    expect(expired).toBe(0)
    expect(operator.handed.length).toBeLessThan(60)
    await expectBooksInOrder(db.sql, world)
  })

  test('messages are tried again at a busy operator with growing pauses, and the rest of the chunk is not delayed', async () => {
    const tries = new Map<string, number[]>()
    const accepted: string[] = []
    let othersAreSent = false
    const operator = aChannel(({ uuid, attempts, destination }) => {
      tries.set(uuid, [...(tries.get(uuid) ?? []), performance.now()])
      const isBusy = destination.endsWith('177') && (attempts < 3 || !othersAreSent)
      if (!isBusy) accepted.push(uuid)
      return isBusy ? { kind: 'busy', reason: 'throttled', retryAfterMs: 100 } : { kind: 'accepted' }
    })
    const { world, dispatchId } = await through(operator, 400)
    await eventually(async () => expect((await fatesOf(db.sql, dispatchId)).SENT).toBe(360))
    othersAreSent = true
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 400 }))
    expect(new Set(accepted).size).toBe(400)
    expect(accepted).toHaveLength(400)
    const busy = [...tries.values()].filter(times => times.length > 1)
    expect(busy).toHaveLength(40)
    for (const times of busy) {
      expect(times.length).toBeGreaterThanOrEqual(4)
      const [first, second, third] = times.slice(1).map((time, i) => time - times[i]!)
      expect(first).toBeGreaterThanOrEqual(99)
      expect(second).toBeGreaterThanOrEqual(199)
      expect(third).toBeGreaterThanOrEqual(399)
    }
    await expectBooksInOrder(db.sql, world)
  })

  test('a message is tried again only after the pause that the operator asks for', async () => {
    const operator = aChannel(() => ({ kind: 'busy', reason: 'throttled', retryAfterMs: 900_000 }))
    const before = Date.now()
    const { world } = await through(operator, 40)
    const leases = await eventually(async () => {
      const rows = await db.sql`select due_at as due, worker from leases where company_id = ${world.companyId}`
      expect(operator.handed).toHaveLength(40)
      expect(rows.filter(({ worker }) => worker !== null)).toHaveLength(0)
      return rows
    })
    for (const { due } of leases) expect(due.getTime()).toBeGreaterThanOrEqual(before + 900_000)
    await db.sql`delete from leases where company_id = ${world.companyId}`
  })

  test('attempts at a busy operator do not leave a deadline each', async () => {
    const operator = aChannel(({ attempts, destination }) =>
      attempts < 4 && !destination.endsWith('177')
        ? { kind: 'busy', reason: 'throttled', retryAfterMs: 20 }
        : { kind: 'accepted' },
    )
    const { world, dispatchId } = await through(operator, 80)
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 80 }))
    await eventually(async () =>
      expect(await db.sql`select from leases where company_id = ${world.companyId}`).toHaveLength(0),
    )
    const rows = await db.sql`select lane_id from deadlines where company_id = ${world.companyId}`
    const lanes = new Set(rows.map(({ laneId }) => laneId))
    // One deadline after the first messages were sent, and one after all were sent.
    expect(rows.length).toBeLessThanOrEqual(2 * lanes.size)
    const [uncovered] = await db.sql`
      select count(*) as n from messages m
      where m.dispatch_id = ${dispatchId} and not exists (
        select from deadlines d where d.company_id = m.company_id and d.lane_id = m.lane_id
          and m.seq >= d.first_seq and m.seq < d.next_seq)`
    expect(uncovered!.n).toBe(0)
  })
})

describe('gateways', () => {
  const twoOperators = async (answer: Parameters<typeof aChannel>[0]) => {
    const first = await aGateway(db.sql, { name: 'first' })
    const second = await aGateway(db.sql, { name: 'second' })
    const operators = new Map([first, second].map(({ gatewayId }) => [gatewayId, aChannel(answer)]))
    const connect: NonNullable<Parameters<typeof anEngine>[0]>['connect'] = (gateway, feed) =>
      operators.get(gateway.gatewayId)!.connect(gateway, feed)
    return { operators, connect }
  }

  const timesHanded = ({ handed }: ReturnType<typeof aChannel>) =>
    [...Map.groupBy(handed, ({ uuid }) => uuid).values()].map(({ length }) => length)

  test('a message that a gateway may have accepted is sent through the same gateway again', async () => {
    const world = await aWorld(db.sql)
    const { operators, connect } = await twoOperators(({ attempts }) =>
      attempts < 2 ? { kind: 'lost', reason: 'reset' } : { kind: 'accepted' },
    )
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(80))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect })
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 80 }))
    const [first, second] = [...operators.values()].map(timesHanded)
    expect(first!.length).toBeGreaterThan(0)
    expect(second!.length).toBeGreaterThan(0) // both gateways are used although they are equally busy
    expect([...first!, ...second!]).toEqual(Array(80).fill(3))
  })

  test('a message that a gateway may have accepted is sent through another one when the gateway is removed', async () => {
    const world = await aWorld(db.sql)
    const { operators, connect } = await twoOperators(({ attempts }) =>
      attempts === 0 ? { kind: 'lost', reason: 'reset' } : { kind: 'accepted' },
    )
    const [first] = operators.keys()
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
    await start(db.sql, world, dispatchId)
    await anEngine({ connect })
    await eventually(() => expect(operators.get(first!)!.handed.length).toBeGreaterThan(0))
    operators.get(first!)!.state.up = false
    await db.sql`delete from gateways where gateway_id = ${first!}`
    await eventually(async () => expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 8 }))
  })

  test('a gateway with a used-up limit does not delay a lane while another gateway has room', async () => {
    const world = await aWorld(db.sql)
    const narrow = await aGateway(db.sql, { name: 'narrow', partsPerSecond: 1 })
    await db.sql`
      insert into rate_buckets (subject, tokens, filled_at)
      values (${`gateway:${narrow.gatewayId}`}, -1000000, clock_timestamp())`
    await aGateway(db.sql, { name: 'wide' })
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(400))
    await start(db.sql, world, dispatchId)
    await anEngine()
    const { messages } = await completed(db.sql, world, dispatchId)
    expect(messages.delivered).toBe(400)
  })

  test('the first chunk of a gateway is not larger than its window', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const gate = Promise.withResolvers<void>()
    const operator = aChannel(async () => {
      await gate.promise
      return { kind: 'accepted' }
    })
    await accept(world, 200)
    await anEngine({ connect: (gateway, feed) => ({ ...operator.connect(gateway, feed), window: 7 }) })
    await eventually(() => expect(operator.handed.length).toBeGreaterThan(0))
    const sizes = await db.sql`select next_seq - first_seq as size from leases where company_id = ${world.companyId}`
    expect(new Set(sizes.map(({ size }) => size))).toEqual(new Set([7]))
    gate.resolve()
    await eventually(async () => expect(await statusesOf(world)).toEqual({ SENT: 200 }))
  })
})

describe('while a chunk is being sent,', () => {
  /** Waits until the engine has read the stop requests once more. The next read begins after the end of this one. */
  async function nextCheckOfSlices() {
    let reads = 0
    const debug = (_: number, text: string) => {
      if (/from stop_requests where company_id = \$\d+ and message_uuid = any/.test(text)) reads++
    }
    Object.assign(db.sql.options, { debug })
    await eventually(() => expect(reads).toBeGreaterThan(1)).finally(() =>
      Object.assign(db.sql.options, { debug: undefined }),
    )
  }

  test('the blacklist and stop requests take effect inside a slice of a slow gateway', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql)
    const gate = Promise.withResolvers<void>()
    const operator = aChannel(async () => {
      if (operator.handed.length === 50) await gate.promise
      return { kind: 'accepted' }
    })
    const accepted = await accept(world, 100)
    const uuids = accepted.flatMap(one => (one.kind === 'accepted' ? one.uuid : []))
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed).toHaveLength(50))
    const { companyId } = world
    await addToBlacklist(db.sql, companyId, singles(world, 100)[99]!.destination, undefined)
    const [stopped] = await stopMessages(db.sql, companyId, [uuids[98]!], { billingZone, now: new Date() })
    expect(stopped!.outcome).toBe('maybe')
    await nextCheckOfSlices()
    gate.resolve()
    await eventually(async () => expect(await statusesOf(world)).toEqual({ SENT: 98, FAILED: 2 }))
    const handed = new Set(operator.handed.map(({ uuid }) => uuid))
    expect([handed.has(uuids[97]!), handed.has(uuids[98]!), handed.has(uuids[99]!)]).toEqual([true, false, false])
    await expectBooksInOrder(db.sql, world)
  })

  test('a chunk that begins during a renewal of leases does not count as lost', async () => {
    const [early, late] = [await aWorld(db.sql), await aWorld(db.sql)]
    await aGateway(db.sql)
    const gates = [early, late].map(({ companyId }) => ({ companyId, gate: Promise.withResolvers<void>() }))
    const operator = aChannel(async ({ companyId }) => {
      await gates.find(one => one.companyId === companyId)!.gate.promise
      return { kind: 'accepted' }
    })
    const handedOf = ({ companyId }: World) => operator.handed.filter(message => message.companyId === companyId)
    await accept(early, 2)
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(handedOf(early)).toHaveLength(1))

    await db.sql.begin(async tx => {
      await tx`select from leases where company_id = ${early.companyId} for update`
      await eventually(async () => {
        const waiting = await db.sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%update leases set claimed_until%'`
        expect(waiting.length).toBeGreaterThan(0)
      })
      await accept(late, 10)
      await eventually(() => expect(handedOf(late)).toHaveLength(1))
    })
    const untilOf = async () =>
      (await db.sql`select claimed_until as at from leases where company_id = ${late.companyId}`)[0]!.at.getTime()
    const before = await untilOf()
    await eventually(async () => expect(await untilOf()).toBeGreaterThan(before)) // the next renewal, so the first one has ended
    for (const { gate } of gates) gate.resolve()
    await eventually(async () => expect(await statusesOf(late)).toEqual({ SENT: 10 }))
    // If the chunk had been returned halfway, there would be one for each half.
    await eventually(async () =>
      expect(await db.sql`select from leases where company_id = ${late.companyId}`).toHaveLength(0),
    )
    expect(await db.sql`select from deadlines where company_id = ${late.companyId}`).toHaveLength(1)
  })

  test('a long read of messages does not delay sending while partitions are created', async () => {
    const world = await aWorld(db.sql)
    await aGateway(db.sql, { settings: { ownIds: true } })
    const [names] = await db.sql<{ month: string; day: string; past: string }[]>`
      select 'messages_' || to_char(date_trunc('month', now() at time zone 'UTC') + interval '3 months', 'YYYY_MM') as month,
        'submissions_' || to_char((now() at time zone 'UTC')::date + 3, 'YYYY_MM_DD') as day,
        'submissions_' || to_char((now() at time zone 'UTC')::date - 9, 'YYYY_MM_DD') as past`
    const { month, day, past } = names!
    await db.sql`drop table ${db.sql(month)}, ${db.sql(day)}`
    await db.sql`select ensure_submission_days()`
    await db.sql`drop table ${db.sql(day)}`
    await db.sql.unsafe(
      `create table ${past} partition of submissions for values from ('2020-01-01') to ('2020-01-02')`,
    )
    const tables = async () => {
      const rows = await db.sql<{ name: string }[]>`
        select relname as name from pg_class where relname = any(${[month, day, past]}::text[]) and relispartition`
      return new Set(rows.map(({ name }) => name))
    }
    const keepDays = () => db.sql`select ensure_message_months(), ensure_submission_days(), drop_old_submission_days()`

    await db.sql.begin(async tx => {
      await tx`select count(*) from messages`
      await tx`select count(*) from submissions`
      await anEngine({ idleMs: 60_000 }) // its housekeeping would drop the past day before the read begins
      const kept = keepDays()
      await accept(world, 20)
      await eventually(async () => expect(await statusesOf(world)).toEqual({ DELIVERED: 20 }))
      await kept
      expect(await tables()).toEqual(new Set([month, day, past]))
    })
    // A statement of the engine on the table can prevent the drop, which waits only briefly for its lock.
    await eventually(async () => {
      await keepDays()
      expect(await tables()).toEqual(new Set([month, day]))
    })
    const [indexes] = await db.sql`
      select count(*) filter (where tablename = ${month}) as own, count(*) filter (where tablename = 'messages') as wanted
      from pg_indexes`
    expect(indexes!.own).toBe(indexes!.wanted)
  })
})

describe('limits', () => {
  test('two engines do not double the limit of a gateway, counted in parts', async () => {
    const world = await aWorld(db.sql)
    const rate = 100
    await watchDraws(db.sql)
    const { gatewayId } = await aGateway(db.sql, { partsPerSecond: rate })
    // Two parts each.
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(200), { text: 'a'.repeat(200) })
    await Promise.all([anEngineProcess(), anEngine()])
    await start(db.sql, world, dispatchId)
    const { parts } = await completed(db.sql, world, dispatchId)
    expect(parts.delivered).toBe(400)

    const draws = await drawsFrom(db.sql, withinAnySecond(`gateway:${gatewayId}`, rate))
    expect(mostInASecond(draws)).toBeLessThanOrEqual(rate)
    expect(drawnInAll(draws)).toBe(400)
    await expectBooksInOrder(db.sql, world)
  })

  test('parts that were drawn for messages that were not sent are returned', async () => {
    const world = await aWorld(db.sql)
    const { gatewayId } = await aGateway(db.sql, { partsPerSecond: 100 })
    const gate = Promise.withResolvers<void>()
    const operator = aChannel(async () => {
      await gate.promise
      return { kind: 'accepted' }
    })
    await accept(world, 100)
    const engine = await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed).toHaveLength(1))
    const stopped = stopEngine(engine)
    gate.resolve()
    await stopped
    expect(operator.handed).toHaveLength(1)
    const [bucket] = await db.sql`select tokens from rate_buckets where subject = ${`gateway:${gatewayId}`}`
    expect(bucket!.tokens).toBeGreaterThanOrEqual(12) // of a burst of 13; the row shows the time of the draw, so no refill is included
  })

  test('a message with more parts than its limit holds is sent', async () => {
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
