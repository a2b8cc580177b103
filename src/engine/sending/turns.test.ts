import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CompanyTurns, createTurns } from './turns.ts'

const CODES = 0
const weights = [Number.POSITIVE_INFINITY, 8, 4, 1]

/** Serves chunks while the given kinds always have work. Returns how many messages each kind got. */
function serve(kinds: number[], chunks: number, turns = createTurns(weights), size = 2000) {
  const messages = weights.map(() => 0)
  for (let i = 0; i < chunks; i++) {
    const kind = turns.next(each => kinds.includes(each))!
    turns.served(kind, size)
    messages[kind]! += size
  }
  return messages
}

describe('turns', () => {
  test('kinds of work that all wait are served in proportion to their weights', () => {
    const [, transact, service, promo] = serve([1, 2, 3], 1300)
    expect(transact! / promo!).toBeCloseTo(8, 1)
    expect(service! / promo!).toBeCloseTo(4, 1)
  })

  test('a code is always served first, also after much other work', () => {
    const turns = createTurns(weights)
    serve([CODES, 1, 2, 3], 500, turns)
    expect(turns.next(() => true)).toBe(CODES)
  })

  test('a kind of work that waits alone gets every turn', () => {
    expect(serve([3], 10)[3]).toBe(20_000)
    expect(createTurns(weights).next(() => false)).toBeUndefined()
  })

  test('a kind of work that was idle for long does not take every turn when it has work again', () => {
    const turns = createTurns(weights)
    serve([1], 10_000, turns)
    const [, transact, , promo] = serve([1, 3], 100, turns)
    expect(transact).toBeGreaterThan(promo!)
  })

  test('every kind of work gets a turn, for any sizes of the chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 500, maxLength: 500 }), sizes => {
        const turns = createTurns(weights)
        const served = new Set<number>()
        for (const size of sizes) {
          const kind = turns.next(each => each !== CODES)!
          served.add(kind)
          turns.served(kind, size)
        }
        expect([...served].toSorted()).toEqual([1, 2, 3])
      }),
    )
  })
})

describe('turns of companies', () => {
  /** Serves chunks while these companies always have work, each company in chunks of its own size. */
  function serveCompanies(chunkSizes: number[], chunks: number, turns = new CompanyTurns()) {
    const served = chunkSizes.map(() => 0)
    for (let i = 0; i < chunks; i++) {
      const next = chunkSizes.reduce((best, _, id) => (turns.placeOf(id) < turns.placeOf(best) ? id : best), 0)
      turns.served(next, chunkSizes[next]!)
      served[next]! += 1
    }
    return served
  }

  test('companies with chunks of equal size get equally many turns', () => {
    expect(serveCompanies([1000, 1000, 1000], 300)).toEqual([100, 100, 100])
  })

  test('a company with single messages in thousands of lanes gets a few chunks for each chunk of another', () => {
    const [many, one] = serveCompanies([1, 1000], 1000)
    expect(many! / one!).toBeLessThanOrEqual(4)
  })

  test('a company that was idle gets no extra turns for that time', () => {
    const turns = new CompanyTurns()
    serveCompanies([1000], 500, turns)
    expect(serveCompanies([1000, 1000], 100, turns)).toEqual([50, 50])
  })

  test('forgetting thousands of idle companies does not change the turns of the others', () => {
    const turns = new CompanyTurns()
    for (let id = 0; id < 5000; id++) turns.served(id, 1000)
    expect(turns.placeOf(6000)).toBeLessThanOrEqual(turns.placeOf(4999))
  })
})
