import { expect, test, vi } from 'vitest'
import { SearchLimiter } from './search-limiter.ts'

const limits = { most: 3, mostOfOne: 2, mostWaiting: 4, mostWaitingOfOne: 2, patienceMs: 60_000, refusal: 'Too many' }

/** Work that runs until the test ends it, and the names of the running work. */
function limited(given: Partial<typeof limits> = {}) {
  const limiter = new SearchLimiter({ ...limits, ...given })
  const running: string[] = []
  return {
    running,
    start(companyId: number, name: string) {
      const { promise, resolve: end, reject: fail } = Promise.withResolvers<void>()
      const done = limiter
        .run(companyId, async () => {
          running.push(name)
          await promise
          return name
        })
        .finally(() => running.includes(name) && running.splice(running.indexOf(name), 1))
      done.catch(() => {})
      return { done, end, fail }
    },
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve))
const tooMany = { kind: 'too_many_requests', retryAfterSeconds: 2, limit: 2 }

test('one company gets at most its share, and other companies can run work beside it', async () => {
  const { start, running } = limited()
  for (const name of ['a1', 'a2', 'a3']) start(1, name)
  start(2, 'b1')
  await settled()
  expect(running).toEqual(['a1', 'a2', 'b1'])
})

test('waiting work starts when there is room, the oldest first', async () => {
  const { start, running } = limited()
  const [a1] = [start(1, 'a1'), start(1, 'a2')]
  const b1 = start(2, 'b1')
  start(1, 'a3')
  start(2, 'b2')
  b1.end()
  await expect(b1.done).resolves.toBe('b1')
  await settled()
  expect(running).toEqual(['a1', 'a2', 'b2']) // a3 came first, and its company has its share
  a1!.end()
  await settled()
  expect(running).toEqual(['a2', 'b2', 'a3'])
})

test('failed work makes room, too, and does not affect other work', async () => {
  const { start, running } = limited({ mostOfOne: 1 })
  const first = start(1, 'first')
  start(1, 'second')
  first.fail(new Error('failed'))
  await expect(first.done).rejects.toThrow('failed')
  await settled()
  expect(running).toEqual(['second'])
})

test('waiting companies take turns, for any number of searches of each', async () => {
  const { start, running } = limited({ most: 2, mostOfOne: 1, mostWaitingOfOne: 10, mostWaiting: 100 })
  const first = [start(1, 'a0'), start(2, 'b0')]
  const later = ['a1', 'a2', 'b1', 'b2', 'c1'].map(name => [name, start('abc'.indexOf(name[0]!) + 1, name)] as const)
  first[0]!.end()
  await settled()
  expect(running).toEqual(['b0', 'a1'])
  first[1]!.end()
  await settled()
  expect(running).toEqual(['a1', 'b1'])
  later[0]![1].end()
  await settled()
  expect(running).toEqual(['b1', 'c1']) // a2 and b2 came before it, and their companies have had a turn
})

test('searches above the limit of waiting searches are refused at once, with the time of the next try', async () => {
  const { start, running } = limited()
  for (let i = 0; i < 4; i++) start(1, `a${i}`)
  await expect(start(1, 'a4').done).rejects.toMatchObject(tooMany)
  for (let i = 0; i < 3; i++) start(2, `b${i}`)
  await expect(start(3, 'c').done).rejects.toMatchObject(tooMany)
  expect(running).toEqual(['a0', 'a1', 'b0'])
})

test('waiting work is refused after `patienceMs` and does not start later', async () => {
  vi.useFakeTimers()
  const { start, running } = limited({ mostOfOne: 1, patienceMs: 3000 })
  const first = start(1, 'first')
  const second = start(1, 'second')
  await vi.advanceTimersByTimeAsync(3000)
  vi.useRealTimers()
  await expect(second.done).rejects.toMatchObject({ kind: 'too_many_requests' })
  first.end()
  await first.done
  await settled()
  expect(running).toEqual([])
})
