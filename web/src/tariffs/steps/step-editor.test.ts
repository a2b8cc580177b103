import { expect, test } from 'vitest'
import { placeOf } from './step-chart.tsx'
import { problemsOf, stepsToSend, typedStep } from './step-editor.ts'

test('the counts of steps rise from 0 or 1 without gaps, and prices have at most four decimals', () => {
  const good = [typedStep('0', '7,5'), typedStep('1001', '6.1234', '100')]
  expect(problemsOf(good, 'SCALED')).toEqual([{}, {}])
  const bad = [typedStep('5', '1.00001'), typedStep('5', ''), typedStep('x', '1', '1.00001')]
  expect(problemsOf(bad, 'MAU')).toEqual([
    { from: 'tariffs.problem.first', price: 'tariffs.problem.price' },
    { from: 'tariffs.problem.rising', price: 'tariffs.problem.price' },
    { from: 'tariffs.problem.count', priceMauBatch: 'tariffs.problem.price' },
  ])
  expect(stepsToSend(good, 'FIXED')).toEqual([{ from: '0', price: '7.5', priceMauBatch: null }])
  expect(stepsToSend(good, 'MAU')[1]).toEqual({ from: '1001', price: '6.1234', priceMauBatch: '100' })
})

test('a count is placed within its step, and never after the end of the last step', () => {
  const steps = [{ from: 0 }, { from: 100 }, { from: 1000 }]
  expect([0, 50, 100, 550, 1000].map(count => placeOf(steps, count))).toEqual([0, 0.5, 1, 1.5, 2])
  expect(placeOf(steps, 10 ** 12)).toBeLessThanOrEqual(3)
})
