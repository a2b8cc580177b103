import { expect, test } from 'vitest'
import { amountIn } from './typed-amount.ts'

test.each([
  ['1500', '1500'],
  ['1 500,50', '1500.50'],
  ['1\u00a0500.5', '1500.5'],
  ['1,500.50', '1500.50'],
  ['1,500', '1500'],
  ['0,5', '0.5'],
  ['', undefined],
  ['-5', undefined],
  ['1.23456', undefined],
  ['1e3', undefined],
  ['12 roubles', undefined],
])('%j is the amount %j', (typed, amount) => {
  expect(amountIn(typed)).toBe(amount)
})
