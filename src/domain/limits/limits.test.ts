import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Pool } from '../../db/sql.ts'
import { countLockWaits, PATIENT, useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { bucketOf } from './limit.ts'
import { drawParts, type Limit, removeUnusedBuckets, returnParts, tryDrawParts, withinAnySecond } from './limits.ts'

const db = useDatabase()
const DAY = 86_400

beforeEach(() => db.sql`truncate rate_buckets`)

/** Moves the buckets' last draw into the past: as if this time had gone by. */
async function passSeconds(seconds: number, subject?: string) {
  await db.sql`
    update rate_buckets set filled_at = filled_at - make_interval(secs => ${seconds})
    where ${subject ?? null}::text is null or subject = ${subject ?? null}`
}

/** So slow that nothing fills up while a test runs, however busy the machine is. */
const slow = (subject: string, burst: number): Limit => ({ subject, perSecond: burst / DAY, burstSeconds: DAY })

describe('a draw', () => {
  test('gets what it asks for, and never more than one burst at once', async () => {
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 30)).toBe(30)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 500)).toBe(70)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 1)).toBe(0)
    await passSeconds(100 * DAY)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 500)).toBe(100)
  })

  test('has a burst of one second unless told otherwise', async () => {
    expect(await drawParts(db.sql, [{ subject: 'gateway:1', perSecond: 80 }], 1000)).toBe(80)
    await passSeconds(3600)
    expect(await drawParts(db.sql, [{ subject: 'gateway:1', perSecond: 80 }], 1000)).toBe(80)
  })

  test('is limited by the poorest of its buckets, and takes the same from each', async () => {
    const limits = [slow('sender:12', 40), slow('gateway:3', 100), slow('company:7', 60), slow('dispatch:9', 25)]
    expect(await drawParts(db.sql, limits, 1000)).toBe(25)
    expect(await drawParts(db.sql, limits, 1000)).toBe(0)
    expect(await drawParts(db.sql, [slow('sender:12', 40)], 1000)).toBe(15)
    expect(await drawParts(db.sql, [slow('company:7', 60)], 1000)).toBe(35)
    expect(await drawParts(db.sql, [slow('gateway:3', 100)], 1000)).toBe(75)
  })

  test('without limits gets everything, and of nothing gets nothing', async () => {
    expect(await drawParts(db.sql, [], 5000)).toBe(5000)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 0)).toBe(0)
  })

  test('creates missing buckets beside existing buckets', async () => {
    expect(await drawParts(db.sql, [slow('gateway:3', 50)], 20)).toBe(20)
    expect(await drawParts(db.sql, [slow('sender:1', 100), slow('gateway:3', 50)], 100)).toBe(30)
    expect(await drawParts(db.sql, [slow('sender:1', 100)], 100)).toBe(70)
  })

  test('says when to ask again', async () => {
    const limits = [slow('gateway:1', 100), slow('dispatch:1', 10)]
    expect(await tryDrawParts(db.sql, limits, 10)).toEqual({ parts: 10, retryAfterMs: 0, poorest: 'dispatch:1' })
    const { parts, retryAfterMs } = await tryDrawParts(db.sql, limits, 10)
    expect(parts).toBe(0)
    expect(retryAfterMs).toBeGreaterThan(8_000_000)
    expect(retryAfterMs).toBeLessThanOrEqual(8_640_000)
    await passSeconds(retryAfterMs / 1000)
    expect(await drawParts(db.sql, limits, 10)).toBe(1)
  })

  test('asking at the moment it was told gets its part, at any rate', async () => {
    for (const perSecond of [1 / DAY, 1 / 7, 0.3, 1, 3, 7.7, 999, 10_000]) {
      const limits = [{ subject: `dispatch:${perSecond}`, perSecond }]
      await drawParts(db.sql, limits, 100_000)
      const { parts, retryAfterMs } = await tryDrawParts(db.sql, limits, 1)
      await passSeconds(retryAfterMs / 1000)
      expect(parts || (await drawParts(db.sql, limits, 1)), `${perSecond} per second`).toBe(1)
    }
  })

  test('refuses a rate that no limit may have, and two limits for one bucket', async () => {
    for (const perSecond of [0, -1, Number.NaN, 1 / (2 * DAY)]) {
      await expect(drawParts(db.sql, [{ subject: 'gateway:1', perSecond }], 1)).rejects.toThrow(RangeError)
    }
    await expect(drawParts(db.sql, [slow('gateway:1', 1), slow('gateway:1', 2)], 1)).rejects.toThrow(RangeError)
  })
})

describe('a slow limit', () => {
  const tenPerMinute = [{ subject: 'dispatch:9', perSecond: 10 / 60 }]

  test('fills up to whole parts and does not hoard them', async () => {
    expect(await drawParts(db.sql, tenPerMinute, 10)).toBe(1)
    await passSeconds(1)
    expect(await drawParts(db.sql, tenPerMinute, 10)).toBe(0)
    await passSeconds(5)
    expect(await drawParts(db.sql, tenPerMinute, 10)).toBe(1)
    await passSeconds(3600)
    expect(await drawParts(db.sql, tenPerMinute, 10)).toBe(1)
  })

  test('grants as much as its rate over a long time', async () => {
    let granted = 0
    for (let minute = 0; minute < 60; minute++) {
      for (let i = 0; i < 10; i++) {
        granted += await drawParts(db.sql, tenPerMinute, 10)
        await passSeconds(6)
      }
    }
    expect(granted).toBe(600)
  })
})

describe('a message longer than the burst', () => {
  const two = [slow('gateway:1', 2)]

  test('goes when the bucket is full, and its debt is paid before anything else goes', async () => {
    expect(await drawParts(db.sql, two, 20, { atLeast: 5 })).toBe(5)
    await passSeconds(1.5 * DAY)
    expect(await drawParts(db.sql, two, 1)).toBe(0)
    await passSeconds(0.5 * DAY)
    expect(await drawParts(db.sql, two, 1)).toBe(1)
    expect(await drawParts(db.sql, two, 5, { atLeast: 5 })).toBe(0)
  })

  test('is told when the bucket will be full', async () => {
    await drawParts(db.sql, two, 5, { atLeast: 5 })
    const { parts, retryAfterMs } = await tryDrawParts(db.sql, two, 20, { atLeast: 5 })
    expect(parts).toBe(0)
    expect(retryAfterMs).toBeGreaterThan(2.4 * DAY * 1000)
    expect(retryAfterMs).toBeLessThanOrEqual(2.5 * DAY * 1000)
    await passSeconds(retryAfterMs / 1000)
    expect(await drawParts(db.sql, two, 20, { atLeast: 5 })).toBe(5)
  })

  test('waits for the bucket to hold all its parts when they fit into the burst', async () => {
    const ten = [slow('gateway:1', 10)]
    expect(await drawParts(db.sql, ten, 7)).toBe(7)
    expect(await drawParts(db.sql, ten, 50, { atLeast: 5 })).toBe(0)
    expect(await drawParts(db.sql, ten, 50, { atLeast: 3 })).toBe(3)
  })

  test('is lent by one bucket and paid by another', async () => {
    expect(await drawParts(db.sql, [...two, slow('sender:1', 100)], 50, { atLeast: 5 })).toBe(5)
    expect(await drawParts(db.sql, [slow('sender:1', 100)], 100)).toBe(95)
  })

  test('goes at its rate over a long time', async () => {
    let granted = 0
    for (let i = 0; i < 40; i++) {
      granted += await drawParts(db.sql, two, 5, { atLeast: 5 })
      await passSeconds(0.5 * DAY)
    }
    expect(granted).toBe(40)
  })
})

describe('parts given back', () => {
  test('can be drawn again, from every bucket', async () => {
    const limits = [slow('gateway:3', 100), slow('company:7', 60)]
    expect(await drawParts(db.sql, limits, 1000)).toBe(60)
    await returnParts(db.sql, limits, 25)
    expect(await drawParts(db.sql, limits, 1000)).toBe(25)
    expect(await drawParts(db.sql, [slow('gateway:3', 100)], 1000)).toBe(40)
  })

  test('pay a debt first, and never make a bucket fuller than its burst', async () => {
    const two = [slow('gateway:1', 2)]
    expect(await drawParts(db.sql, two, 5, { atLeast: 5 })).toBe(5)
    await returnParts(db.sql, two, 3)
    expect(await drawParts(db.sql, two, 1)).toBe(0)
    await returnParts(db.sql, two, 1000)
    expect(await drawParts(db.sql, two, 1000)).toBe(2)
  })

  test('to an unknown limit, or to no limit, are ignored', async () => {
    await returnParts(db.sql, [{ subject: 'gateway:99' }], 5)
    await returnParts(db.sql, [], 5)
  })
})

describe('a changed rate', () => {
  test('takes effect with the next draw', async () => {
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 10)).toBe(10)
    expect(await drawParts(db.sql, [slow('gateway:1', 20)], 100)).toBe(20) // of 90
    await passSeconds(DAY / 2)
    expect(await drawParts(db.sql, [slow('gateway:1', 600)], 1000)).toBe(300)
  })
})

describe('the clock of the database', () => {
  test('being put back costs nothing but the time lost', async () => {
    await drawParts(db.sql, [slow('gateway:1', 100)], 100)
    await passSeconds(-5 * DAY)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 100)).toBe(0)
    await passSeconds(DAY)
    expect(await drawParts(db.sql, [slow('gateway:1', 100)], 1000)).toBe(100)
  })
})

describe('a limit within any second', () => {
  test.each([1, 2, 3, 5, 6, 7, 10, 99, 1000, 1_000_000])('%i: a full burst and a second more never exceed it', rate => {
    const { perSecond, burst } = bucketOf(withinAnySecond('gateway:1', rate))
    expect(Math.floor(perSecond + burst + 1e-6)).toBeLessThanOrEqual(rate)
    expect(perSecond).toBeGreaterThan(0.85 * rate)
  })
})

describe('housekeeping', () => {
  const subjects = async () => (await db.sql`select subject from rate_buckets order by 1`).map(row => row.subject)

  test('removes buckets unused for a day, and they start full again', async () => {
    await drawParts(db.sql, [slow('dispatch:1', 100)], 100)
    await drawParts(db.sql, [slow('dispatch:2', 100)], 100)
    await passSeconds(DAY + 60, 'dispatch:1')
    await passSeconds(DAY - 600, 'dispatch:2')
    expect(await removeUnusedBuckets(db.sql)).toBe(1)
    expect(await subjects()).toEqual(['dispatch:2'])
    expect(await drawParts(db.sql, [slow('dispatch:1', 100)], 1000)).toBe(100)
  })

  test('keeps a bucket that may still be in debt at the slowest rate', async () => {
    const onePerDay = [{ subject: 'dispatch:1', perSecond: 1 / DAY }]
    expect(await drawParts(db.sql, onePerDay, 10, { atLeast: 10 })).toBe(10)
    await passSeconds(9.9 * DAY)
    expect(await removeUnusedBuckets(db.sql)).toBe(0)
    expect(await drawParts(db.sql, onePerDay, 1)).toBe(0)
    await passSeconds(0.2 * DAY)
    expect(await removeUnusedBuckets(db.sql)).toBe(1)
  })

  test('passes over a bucket in use', async () => {
    await drawParts(db.sql, [slow('dispatch:1', 100)], 1)
    await passSeconds(2 * DAY)
    await db.sql.begin(async tx => {
      await tx`select from rate_buckets for update`
      expect(await removeUnusedBuckets(db.sql)).toBe(0)
    })
    expect(await removeUnusedBuckets(db.sql)).toBe(1)
  })
})

describe('several engines', () => {
  let engines: Pool[]

  beforeAll(() => {
    engines = Array.from({ length: 10 }, () => connect(db.url, { max: 2, ...PATIENT }))
  })
  afterAll(() => Promise.all(engines.map(engine => engine.end())))

  type Grant = { parts: number; beforeMs: number; afterMs: number }

  const databaseTimeMs = async (sql: Pool) =>
    (await sql<{ ms: number }[]>`select 1000 * extract(epoch from clock_timestamp())::double precision as ms`)[0]!.ms

  /** Every engine asks as fast as it can. A grant lies between two readings of the database's clock. */
  async function drawTogether(drawers: Pool[], limits: Limit[], parts: number, draws: number): Promise<Grant[]> {
    const grants: Grant[] = []
    const drawer = async (sql: Pool) => {
      for (let i = 0; i < draws; i++) {
        const beforeMs = await databaseTimeMs(sql)
        const granted = await drawParts(sql, limits, parts)
        grants.push({ parts: granted, beforeMs, afterMs: await databaseTimeMs(sql) })
      }
    }
    await Promise.all(drawers.map(drawer))
    return grants.filter(grant => grant.parts > 0)
  }

  /** The promise, for every interval between two readings of the clock. */
  function expectWithin(grants: Grant[], { perSecond, burstSeconds = 1 }: Limit) {
    const burst = Math.max(1, perSecond * burstSeconds)
    const byEnd = grants.toSorted((a, b) => a.afterMs - b.afterMs)
    for (const { beforeMs } of grants) {
      let granted = 0
      for (const grant of byEnd) {
        if (grant.beforeMs < beforeMs) continue
        granted += grant.parts
        const most = (perSecond * (grant.afterMs - beforeMs)) / 1000 + burst
        if (granted > most + 0.01) expect(granted, `within ${grant.afterMs - beforeMs} ms`).toBeLessThanOrEqual(most)
      }
    }
  }

  test.each([2, 10])('%i of them never exceed rate x time + one burst', async count => {
    const limit = { subject: 'gateway:3', perSecond: 200 }
    const grants = await drawTogether(engines.slice(0, count), [limit], 50, 600 / count)
    expectWithin(grants, limit)
    expect(grants.length).toBeGreaterThan(3)
  })

  test.each([2, 10])('%i of them lose no part and invent none', async count => {
    const limit = { subject: 'gateway:3', perSecond: 100, burstSeconds: 3600 } // too large to run over meanwhile
    await drawParts(db.sql, [limit], 1000) // room for ten seconds
    const [first] = await db.sql`select tokens, filled_at::text as at from rate_buckets`
    const grants = await drawTogether(engines.slice(0, count), [limit], 700, 1000 / count)
    const [last] = await db.sql`
      select tokens, extract(epoch from filled_at - ${first!.at}::text::timestamptz)::double precision as seconds
      from rate_buckets`
    const granted = grants.reduce((sum, grant) => sum + grant.parts, 0)
    expect(granted).toBeCloseTo(first!.tokens + 100 * last!.seconds - last!.tokens, 3)
    expect(granted).toBeGreaterThan(350_000)
  })

  test('draw from overlapping buckets in any order without a deadlock, and make new ones at once', async () => {
    const subjects = ['gateway:3', 'sender:12', 'company:7', 'dispatch:9', 'dispatch:10']
    const drawer = async (sql: Pool, turn: number) => {
      for (let i = 0; i < 60; i++) {
        const chosen = subjects.filter((_, at) => (turn * 7 + i * 11 + at) % 3 > 0)
        const limits = (i % 2 ? chosen : chosen.toReversed()).map(subject => ({ subject, perSecond: 1000 }))
        const parts = await drawParts(sql, limits, 40)
        if (i % 5 === 0) await returnParts(sql, limits.toReversed(), parts)
        if (i % 20 === 0) await sql`delete from rate_buckets where subject = 'dispatch:10'`
      }
    }
    await Promise.all(engines.map(drawer))
  })

  test('a draw that waited for another counts the time it waited', async () => {
    const limit = { subject: 'gateway:3', perSecond: 20 }
    await drawParts(db.sql, [limit], 20)
    const [engine] = engines
    let waiting: Promise<number> | undefined
    await db.sql.begin(async tx => {
      await tx`select from rate_buckets for update`
      waiting = drawParts(engine!, [limit], 20)
      await eventually(async () => expect(await countLockWaits(db.sql)).toBeGreaterThan(0))
      await tx`select pg_sleep(0.3)`
    })
    expect(await waiting).toBeGreaterThanOrEqual(6)
  })
})
