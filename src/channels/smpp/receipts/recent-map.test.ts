import { expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

function aMap({ most = 1000, forMs = 100 } = {}) {
  const time = { now: 0 }
  const map = new RecentMap<string, number>({ most, forMs, clock: () => time.now })
  const at = (ms: number) => {
    time.now = ms
  }
  return { map, at }
}

test('an entry stays for half of the time at least, and not longer than the time', () => {
  const { map, at } = aMap()
  for (const ms of [0, 49]) {
    at(ms)
    map.set(`at ${ms}`, ms)
  }
  at(60)
  map.set('at 60', 60)
  at(99)
  expect([map.get('at 0'), map.get('at 49'), map.get('at 60')]).toEqual([0, 49, 60])
  at(120)
  expect([map.get('at 0'), map.get('at 49'), map.get('at 60')]).toEqual([undefined, undefined, 60])
})

test('after a long silence nothing is left', () => {
  const { map, at } = aMap()
  map.set('a', 1)
  at(1000)
  expect([map.get('a'), map.size]).toEqual([undefined, 0])
})

test('there are never more entries than the most, and the newest half of them is there', () => {
  const { map } = aMap({ most: 10 })
  for (let i = 0; i < 1000; i++) {
    map.set(`${i}`, i)
    expect(map.size).toBeLessThanOrEqual(10)
    for (let back = 0; back < Math.min(i, 5); back++) expect(map.get(`${i - back}`)).toBe(i - back)
  }
})

test('an entry that is set again has its new value, and a deleted entry is gone from both halves', () => {
  const { map, at } = aMap()
  map.set('a', 1)
  map.set('b', 1)
  at(60)
  map.set('a', 2)
  expect(map.get('a')).toBe(2)
  map.delete('a')
  map.delete('b')
  expect([map.get('a'), map.get('b'), map.size]).toEqual([undefined, undefined, 0])
})
