import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CompanyTurns, createTurns } from './turns.ts'

const CODES = 0
const weights = [Number.POSITIVE_INFINITY, 8, 4, 1]

/** Serves a chunk at a time while the given kinds have work without end, and counts what each got. */
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
  test('kinds that all have work share by their weights', () => {
    const [, transact, service, promo] = serve([1, 2, 3], 1300)
    expect(transact! / promo!).toBeCloseTo(8, 1)
    expect(service! / promo!).toBeCloseTo(4, 1)
  })

  test('a code goes before everything else, whatever went before', () => {
    const turns = createTurns(weights)
    serve([CODES, 1, 2, 3], 500, turns)
    expect(turns.next(() => true)).toBe(CODES)
  })

  test('whoever is alone gets everything', () => {
    expect(serve([3], 10)[3]).toBe(20_000)
    expect(createTurns(weights).next(() => false)).toBeUndefined()
  })

  test('who had nothing to send for long does not take it all when work comes', () => {
    const turns = createTurns(weights)
    serve([1], 10_000, turns)
    const [, transact, , promo] = serve([1, 3], 100, turns)
    expect(transact).toBeGreaterThan(promo!)
  })

  test('nobody waits for ever, in whatever chunks the others go', () => {
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
  /** Serves so many chunks while these companies have work without end, each in chunks of its own size. */
  function serveCompanies(chunkSizes: number[], chunks: number, turns = new CompanyTurns()) {
    const served = chunkSizes.map(() => 0)
    for (let i = 0; i < chunks; i++) {
      const next = chunkSizes.reduce((best, _, id) => (turns.placeOf(id) < turns.placeOf(best) ? id : best), 0)
      turns.served(next, chunkSizes[next]!)
      served[next]! += 1
    }
    return served
  }

  test('companies with equal chunks get as many each', () => {
    expect(serveCompanies([1000, 1000, 1000], 300)).toEqual([100, 100, 100])
  })

  test('a company with single messages in thousands of lanes gets a few chunks for each chunk of another', () => {
    const [many, one] = serveCompanies([1, 1000], 1000)
    expect(many! / one!).toBeLessThanOrEqual(4)
  })

  test('attempts without a message count little, but they count', () => {
    const [attempts, one] = serveCompanies([0, 1000], 1000)
    expect(attempts! / one!).toBeLessThanOrEqual(50)
  })

  test('a company that had nothing to send has no claim to the time it left', () => {
    const turns = new CompanyTurns()
    serveCompanies([1000], 500, turns)
    expect(serveCompanies([1000, 1000], 100, turns)).toEqual([50, 50])
  })

  test('thousands of companies that came and went are forgotten without a change of turns', () => {
    const turns = new CompanyTurns()
    for (let id = 0; id < 5000; id++) turns.served(id, 1000)
    expect(turns.placeOf(6000)).toBeLessThanOrEqual(turns.placeOf(4999))
  })
})
