import { afterEach, expect, test, vi } from 'vitest'
import { AgainCounter } from './again-counts.ts'

const counts = { messages: 1, price: 0 as never, repeated: 0, reached: 0, removed: 0, withoutText: 0 }
const of = (dispatchId: number) => ({ companyId: 1, dispatchId })
const busy = 'Other dispatches are being counted'

/** A counter whose counts run until `end` of the dispatch is called. */
function aCounter() {
  const running = new Map<number, PromiseWithResolvers<typeof counts>>()
  const count = vi.fn(({ dispatchId }: { dispatchId: number }) => {
    const made = Promise.withResolvers<typeof counts>()
    running.set(dispatchId, made)
    return made.promise
  })
  return { counter: new AgainCounter(count), count, at: (dispatchId: number) => running.get(dispatchId)! }
}

afterEach(() => {
  vi.useRealTimers()
})

test('people share the running count of a dispatch, and its answer for five seconds', async () => {
  vi.useFakeTimers()
  const { counter, count, at } = aCounter()
  const answers = [1, 1, 2].map(personId => counter.of(of(7), personId))
  at(7).resolve(counts)
  expect(await Promise.all(answers)).toEqual([counts, counts, counts])
  expect(await counter.of(of(7), 3)).toBe(counts)
  expect(count).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(5000)
  void counter.of(of(7), 3)
  expect(count).toHaveBeenCalledTimes(2)
})

test('a person has one running count, a process two, and others are refused at once', async () => {
  const { counter, at } = aCounter()
  const first = counter.of(of(1), 1)
  expect(() => counter.of(of(2), 1)).toThrow(busy)
  void counter.of(of(2), 2)
  expect(() => counter.of(of(3), 3)).toThrow(busy)
  at(1).resolve(counts)
  await first
  void counter.of(of(3), 1)
})

test('after a failed count the next request counts again', async () => {
  const { counter, count, at } = aCounter()
  const failed = counter.of(of(1), 1)
  at(1).reject(new Error('failed'))
  await expect(failed).rejects.toThrow('failed')
  void counter.of(of(1), 1)
  expect(count).toHaveBeenCalledTimes(2)
})
