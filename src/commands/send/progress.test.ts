import { expect, test } from 'vitest'
import { barOf, createPace, durationOf } from './progress.ts'

test('the pace is that of the last ten seconds', () => {
  const pace = createPace()
  expect(pace({ atMs: 0, done: 0, left: 1000 })).toEqual({ perSecond: 0, secondsLeft: undefined })
  expect(pace({ atMs: 2000, done: 200, left: 800 })).toEqual({ perSecond: 100, secondsLeft: 8 })
  pace({ atMs: 20_000, done: 200, left: 800 })
  expect(pace({ atMs: 30_000, done: 250, left: 750 })).toEqual({ perSecond: 5, secondsLeft: 150 })
})

test('the bar is full only when all is done', () => {
  expect(barOf(0, 1000)).toBe('[....................] 0 %')
  expect(barOf(999, 1000)).toBe('[###################.] 99 %')
  expect(barOf(1000, 1000)).toBe('[####################] 100 %')
  expect(barOf(0, 0)).toBe('[####################] 100 %')
})

test.each([
  [0.2, '1 s'],
  [59.4, '59 s'],
  [125, '2 min 5 s'],
  [7300, '2 h 1 min'],
])('%s seconds are %s', (seconds, text) => expect(durationOf(seconds)).toBe(text))
