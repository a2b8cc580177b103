import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTurns } from './turns.ts'

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
