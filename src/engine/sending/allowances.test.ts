import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { CODES, type RunnableLane } from '../../domain/lanes/lane.ts'
import { useDatabase } from '../../testing/database.ts'
import { aLiveGateway } from '../../testing/live-gateways.ts'
import { Allowances, type UsedUp } from './allowances.ts'

const db = useDatabase()
const allowances = () => new Allowances({ sql: db.sql, clock: () => new Date(), log: pino({ level: 'silent' }) })

beforeEach(() => db.sql`truncate rate_buckets`)

/** A lane of company 7, which may send 100 parts a second. */
const aLane = (given: Partial<RunnableLane> = {}) =>
  ({ companyId: 7, companyRate: 100, priority: 3, waiting: 1000, ...given }) as RunnableLane

const refill = () => db.sql`update rate_buckets set filled_at = filled_at - interval '1 hour'`

test('parts that a used-up limit regains during a turn are only given out in the next turn', async () => {
  const from = allowances()
  const turn: UsedUp = new Map()
  expect((await from.draw(aLane(), undefined, 1000, turn)).parts).toBe(100)
  await refill()
  const before = new Date()
  const { parts, retryAt } = await from.draw(aLane({ priority: 1 }), undefined, 1000, turn)
  expect(parts).toBe(0)
  expect(retryAt.getTime()).toBeGreaterThan(before.getTime() - 10_000) // the lane may draw again soon, not a day later
  expect(retryAt.getTime()).toBeLessThan(before.getTime() + 1000)
  expect((await from.draw(aLane({ priority: 1 }), undefined, 1000, new Map())).parts).toBe(100)
})

test('a limit that had enough for one lane can serve the next lane of the same turn', async () => {
  const from = allowances()
  const turn: UsedUp = new Map()
  expect((await from.draw(aLane({ waiting: 60 }), undefined, 1000, turn)).parts).toBe(60)
  expect((await from.draw(aLane({ waiting: 30 }), undefined, 1000, turn)).parts).toBe(30)
})

const aGateway = () => {
  const live = aLiveGateway(1)
  return { ...live, gateway: { ...live.gateway, partsPerSecond: 50 } }
}

test('a gateway rests when its own limit has too few parts, also for a lane with another limit', async () => {
  const { parts, restMs } = await allowances().draw(aLane(), aGateway(), 1000, new Map())
  expect(parts).toBeGreaterThan(0)
  expect(restMs).toBeGreaterThan(0)
  expect(restMs).toBeLessThanOrEqual(1000)
})

test('a gateway does not rest for the limit of a company', async () => {
  const from = allowances()
  const poor = aLane({ companyRate: 1 / 3600 })
  expect(await from.draw(poor, aGateway(), 1000, new Map())).toMatchObject({ parts: 1 })
  const again = await from.draw(poor, aGateway(), 1000, new Map())
  expect({ ...again, restMs: again.restMs ?? 'none' }).toMatchObject({ parts: 0, restMs: 'none' })
})

test('a code that waits for the limit of its company does not keep other companies from the gateway', async () => {
  const from = allowances()
  const code = aLane({ companyRate: 1 / 3600, priority: CODES, waiting: 1 })
  await from.draw(code, aGateway(), 1000, new Map())
  expect(await from.draw(code, aGateway(), 1000, new Map())).toMatchObject({ parts: 0 })
  const other = await from.draw(aLane({ companyId: 8, waiting: 5 }), aGateway(), 1000, new Map())
  expect(other.parts).toBe(5)
})
