import { expect, test } from 'vitest'
import { curveOf } from './spending-curve.ts'

const month = {
  month: '2026-11-01',
  daysInMonth: 30,
  days: [
    { day: '2026-11-01', amount: 100 },
    { day: '2026-11-02', amount: 0 },
    { day: '2026-11-03', amount: 200 },
  ],
  budget: 1000,
  free: 650,
  reserved: 50,
  pace: 60,
  forecast: { kind: 'unknown' } as const,
}

test('the curve adds up the days', () => {
  const { days, forecast } = curveOf(month)
  expect(days.map(({ x, sum }) => [x, sum])).toEqual([
    [0.5, 100],
    [1.5, 100],
    [2.5, 300],
  ])
  expect(forecast).toBeUndefined()
})

test('the forecast reaches the budget on the day that the server names', () => {
  const { forecast, top } = curveOf({ ...month, forecast: { kind: 'out', on: '2026-11-13' } })
  expect(forecast).toEqual({ x: 12.5, sum: 1000, usedUpOn: '2026-11-13' })
  expect(top).toBeGreaterThanOrEqual(1000)
})

test.each([{ kind: 'lasts' } as const, { kind: 'out', on: '2027-01-05' } as const])(
  'a forecast of $kind that ends after the month continues to the end of the month with the pace of the last days',
  forecast => {
    expect(curveOf({ ...month, forecast }).forecast).toEqual({ x: 29.5, sum: 300 + 27 * 60 })
  },
)

test('a budget far above the curve does not flatten it', () => {
  expect(curveOf({ ...month, budget: 6000 })).toMatchObject({ isBudgetInScale: true, top: 6000 })
  expect(curveOf({ ...month, budget: 6001 })).toMatchObject({ isBudgetInScale: false, top: 300 })
  expect(curveOf({ ...month, budget: null })).toMatchObject({ isBudgetInScale: false, top: 300 })
  expect(curveOf({ ...month, days: [{ day: '2026-11-01', amount: 0 }] })).toMatchObject({ isBudgetInScale: true })
})
