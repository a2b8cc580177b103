import { describe, expect, test } from 'vitest'
import { LEASE_SECONDS } from '../../src/domain/lanes/lane.ts'
import { WEIGHTS } from '../../src/engine/sending/scheduler.ts'
import { mixOf, readCosts } from './costs.ts'
import { fairShares, jainsIndex } from './fairness.ts'
import { Model } from './model.ts'
import { createDraw, createRandom, skewedShares } from './random.ts'
import { fairnessOf, recoveryOf, type Setup } from './scenarios.ts'
import { limitsOf, type Plan, sizingOf } from './sizing.ts'

/** One millisecond of the engine for a message, and almost none of the database. */
const cost = { engine: 1, database: 0.001 }
const small: Setup = {
  engines: 1,
  shards: 1,
  coresOfShard: 4,
  places: 3,
  answerSeconds: 0,
  cost,
  companies: 10,
  skew: 0,
  seed: 1,
}

describe('fair shares', () => {
  test("Jain's index is 1 for equal values, and 1/n when one has everything", () => {
    expect(jainsIndex([7, 7, 7])).toBe(1)
    expect(jainsIndex([5, 0, 0, 0])).toBe(0.25)
  })

  test('a small demand is met, and the others share the rest alike', () => {
    expect([...fairShares([10, 100, 100], 110)]).toEqual([10, 50, 50])
    expect([...fairShares([10, 20], 100)]).toEqual([10, 20])
  })
})

describe('the model', () => {
  test('one engine sends as much as its processor time allows', () => {
    const model = new Model(small)
    model.accept(0, 100_000)
    model.events.runUntil(10)
    expect(model.recorded).toBeGreaterThanOrEqual(9000)
    expect(model.recorded).toBeLessThanOrEqual(10_000)
  })

  test('two engines send twice as much, and nothing is sent twice or lost', () => {
    const model = new Model({ ...small, engines: 2 })
    for (const { id } of model.companies) model.accept(id, 1000)
    model.events.runUntil(4)
    expect(model.recorded).toBeGreaterThanOrEqual(6000)
    model.events.runUntil(10)
    expect(model.companies.map(({ recorded, waiting }) => ({ recorded, waiting }))).toEqual(
      Array(10).fill({ recorded: 1000, waiting: 0 }),
    )
  })

  test('a slow database limits the engines', () => {
    const model = new Model({ ...small, engines: 4, coresOfShard: 1, cost: { engine: 0.001, database: 1 } })
    model.accept(0, 100_000)
    model.events.runUntil(10)
    expect(model.recorded).toBeLessThanOrEqual(10_000)
    expect(model.recorded).toBeGreaterThanOrEqual(9000)
  })

  test('equal companies get the same, and a company with a million does not delay the others', () => {
    expect(fairnessOf(small)).toMatchObject({ jain: expect.closeTo(1, 1) })
    const model = new Model(small)
    model.accept(0, 1_000_000)
    for (let id = 1; id < 10; id++) model.accept(id, 500)
    model.events.runUntil(12)
    for (const { id, recorded } of model.companies) if (id > 0) expect(recorded).toBe(500)
  })

  test('priorities share an engine by the weights of the scheduler', () => {
    const model = new Model({ ...small, companies: 3, priorityOf: id => id })
    for (let id = 0; id < 3; id++) model.accept(id, 10_000_000)
    model.events.runUntil(2600)
    const [first, second, third] = model.companies.map(({ recorded }) => recorded)
    expect(first! / third!).toBeCloseTo(WEIGHTS[0]! / WEIGHTS[2]!, 0)
    expect(second! / third!).toBeCloseTo(WEIGHTS[1]! / WEIGHTS[2]!, 0)
  })

  test('the chunks of a killed engine are sent after their leases have expired, and none is lost', () => {
    const model = new Model({ ...small, engines: 2, answerSeconds: 1 })
    for (const { id } of model.companies) model.accept(id, 1000)
    model.events.runUntil(0.5)
    model.stopEngine({ isKilled: true })
    model.events.runUntil(60)
    expect(model.companies.map(({ recorded }) => recorded)).toEqual(Array(10).fill(1000))
    expect(model.takeovers.length).toBeGreaterThan(0)
    for (const seconds of model.takeovers) {
      expect(seconds).toBeGreaterThanOrEqual(LEASE_SECONDS - 2)
      expect(seconds).toBeLessThan(60)
    }
  })

  test('a drained engine leaves nothing to be taken over', () => {
    const model = new Model({ ...small, engines: 2, answerSeconds: 1 })
    for (const { id } of model.companies) model.accept(id, 1000)
    model.events.runUntil(0.5)
    model.stopEngine({ isKilled: false })
    model.events.runUntil(60)
    expect({ recorded: model.recorded, takeovers: model.takeovers }).toEqual({ recorded: 10_000, takeovers: [] })
  })

  test('while a shard is away the companies of the other shard go on, and its own follow when it is back', () => {
    const model = new Model({ ...small, shards: 2, places: 24 })
    for (const { id } of model.companies) model.accept(id, 500)
    model.loseShard(1, 30)
    model.events.runUntil(29)
    const recordedOf = (shard: number) =>
      model.companies.filter(({ id }) => id % 2 === shard).map(each => each.recorded)
    expect(recordedOf(0)).toEqual(Array(5).fill(500))
    expect(recordedOf(1)).toEqual(Array(5).fill(0))
    model.events.runUntil(60)
    expect(recordedOf(1)).toEqual(Array(5).fill(500))
  })

  test('a load of half the capacity catches up in about the time of the loss', () => {
    const loss = { kind: 'shard', awaySeconds: 20 } as const
    const { caughtUp, worstSecond } = recoveryOf({ ...small, answerSeconds: 0.05 }, 500, loss)
    expect(worstSecond).toBe(0)
    expect(caughtUp).toBeGreaterThan(25)
    expect(caughtUp).toBeLessThan(50)
  })

  test('the same seed gives the same figures', () => {
    const killed = { kind: 'engine', isKilled: true, restartSeconds: 5 } as const
    const setup = { ...small, engines: 2, companies: 500, skew: 1, answerSeconds: 0.05 }
    expect(recoveryOf(setup, 900, killed)).toEqual(recoveryOf(setup, 900, killed))
  })
})

test('draws follow the shares', () => {
  const draw = createDraw(skewedShares(3, 1), createRandom(7))
  const counts = [0, 0, 0]
  for (let i = 0; i < 60_000; i++) counts[draw()]! += 1
  expect(counts[0]! / counts[1]!).toBeCloseTo(2, 0)
  expect(counts[0]! / counts[2]!).toBeCloseTo(3, 0)
})

describe('sizes', () => {
  const plan: Plan = {
    perDay: 86_400_000,
    peak: 2,
    load: 0.5,
    coresOfServer: 4,
    connectionsOfProcess: 11,
    keepDays: 10,
  }
  const each = { api: 1, engine: 0.5, database: 2, rows: 600, indexes: 400, wal: 1500, commits: 0.1, syncs: 0.05 }

  test('follow from the costs', () => {
    expect(sizingOf(each, plan)).toEqual({
      perSecond: 2000,
      apiProcesses: 4,
      engines: 2,
      databaseCores: 8,
      shards: 2,
      connections: 66,
      gigabytesPerDay: 86.4,
      terabytesKept: 0.864,
      walMegabytesPerSecond: 3,
      syncsPerSecond: 100,
    })
  })

  test('a limit is reached exactly where the sizes say so', () => {
    const engine = limitsOf(each, plan).find(({ what }) => what === 'one engine')!
    expect(sizingOf(each, { ...plan, perDay: engine.perDay * 0.999 }).engines).toBe(1)
    expect(sizingOf(each, { ...plan, perDay: engine.perDay * 1.001 }).engines).toBe(2)
  })

  test('limits are listed in the order in which they are reached', () => {
    const reached = limitsOf(mixOf(readCosts(), 0.3), plan).map(({ perDay }) => perDay)
    expect(reached).toEqual(reached.toSorted((a, b) => a - b))
  })
})
