import { expect, test } from 'vitest'
import { Pace } from './pace.ts'

test('a throttled bind pauses, halves its window, and grows again', () => {
  const pace = new Pace(100)
  expect(pace.room(40, 0)).toBe(60)
  expect(pace.throttled(0)).toBe(250)
  expect(pace.room(0, 100)).toBe(0)
  expect(pace.window).toBe(50)
  expect(pace.room(0, 250)).toBe(50)
  for (let i = 0; i < 52; i++) pace.accepted()
  expect(pace.window).toBe(51)
})

test('throttled answers to messages from before the pause count as one', () => {
  const pace = new Pace(100)
  pace.throttled(0)
  for (let now = 1; now < 100; now++) pace.throttled(now)
  expect(pace.window).toBe(50)
  expect(pace.pausedMs(100)).toBe(150)
})

test('a pause that does not help doubles, up to a bound, and is short again after success', () => {
  const pace = new Pace(100)
  let now = 0
  const pauses = Array.from({ length: 8 }, () => {
    const pauseMs = pace.throttled(now)
    now += pauseMs
    return pauseMs
  })
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000])
  expect(pace.window).toBe(1)
  for (let i = 0; i < 20; i++) pace.accepted()
  expect(pace.throttled(now)).toBe(250)
})
