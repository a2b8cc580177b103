import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WorkSearch } from './work-search.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Counts its searches, which take this long. */
function aSearch(tookMs: number) {
  let searches = 0
  const search = new WorkSearch(async () => {
    searches += 1
    vi.advanceTimersByTime(tookMs)
    return { queues: new Map(), withLeases: [searches] }
  })
  return { search, searches: () => searches }
}

/** Turns every 25 ms for ten seconds. */
async function takeTurns(search: WorkSearch) {
  const endsAt = performance.now() + 10_000
  while (performance.now() < endsAt) {
    await search.find(new Date())
    vi.advanceTimersByTime(25)
  }
}

test('fast searches are made in every turn', async () => {
  const { search, searches } = aSearch(1)
  await takeTurns(search)
  expect(searches()).toBeGreaterThan(380)
})

test('slow searches take a tenth of the time, and turns between them get the last result', async () => {
  const { search, searches } = aSearch(20)
  await takeTurns(search)
  expect(searches()).toBeGreaterThanOrEqual(45)
  expect(searches()).toBeLessThanOrEqual(53)
  expect((await search.find(new Date())).withLeases).toEqual([searches()])
})

test('after a pause that it asks for, a slow search is repeated at once', async () => {
  const { search, searches } = aSearch(20)
  await takeTurns(search)
  vi.advanceTimersByTime(search.pauseMs)
  const before = searches()
  await search.find(new Date())
  expect(searches()).toBe(before + 1)
})

test('after a search that took very long, the next search comes within a second', async () => {
  const { search, searches } = aSearch(30_000)
  await search.find(new Date())
  expect(search.pauseMs).toBe(1000)
  vi.advanceTimersByTime(1000)
  await search.find(new Date())
  expect(searches()).toBe(2)
})

test('a single slow search does not make the searches rare: the shortest of the last ones counts', async () => {
  let searches = 0
  const search = new WorkSearch(async () => {
    searches += 1
    vi.advanceTimersByTime(searches === 3 ? 200 : 1)
    return { queues: new Map(), withLeases: [] }
  })
  for (let i = 0; i < 10; i++) {
    await search.find(new Date())
    vi.advanceTimersByTime(25)
  }
  expect(searches).toBe(10)
})

test('a loop that was woken up too early waits only until the next search is allowed', async () => {
  const { search, searches } = aSearch(60)
  await search.find(new Date())
  const before = searches()
  await search.find(new Date()) // 540 ms are not paid for
  expect(searches()).toBe(before)
  expect(search.pauseMs).toBe(240)
  vi.advanceTimersByTime(240)
  await search.find(new Date())
  expect(searches()).toBe(before + 1)
})

test('announced messages are found without a search, beside the queues of the last search', async () => {
  const found = { companyId: 1, channelType: 'SMS' as const }
  const announced = { companyId: 2, channelType: 'VIBER' as const }
  let searches = 0
  const search = new WorkSearch(async () => {
    searches += 1
    return { queues: new Map([[0, [found]]]), withLeases: [] }
  })
  await search.find(new Date())
  search.announce({ ...announced, priority: 0 })
  search.announce({ ...found, priority: 0 })
  expect((await search.find(new Date())).queues.get(0)).toEqual([found, announced])
  expect(searches).toBe(1)
  expect((await search.find(new Date())).queues.get(0)).toEqual([found])
  expect(searches).toBe(2)
})

test('announcements do not replace the search: everything is searched several times a second', async () => {
  const { search, searches } = aSearch(1)
  const endsAt = performance.now() + 1000
  while (performance.now() < endsAt) {
    search.announce({ companyId: 2, channelType: 'SMS', priority: 0 })
    await search.find(new Date())
    vi.advanceTimersByTime(5)
  }
  expect(searches()).toBeGreaterThanOrEqual(6)
  expect(searches()).toBeLessThan(10)
})

test('after an announcement without a queue, the next turn searches', async () => {
  const { search, searches } = aSearch(1)
  await search.find(new Date())
  search.announce({ companyId: 2, channelType: 'SMS', priority: 0 })
  search.announce()
  await search.find(new Date())
  expect(searches()).toBe(2)
})
