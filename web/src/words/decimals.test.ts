import { expect, test } from 'vitest'
import { decimal } from './decimals.ts'

const values = [
  ...[
    0, -0, 1, 12, 123, 999, 1000, 1234, 999_999, 1_000_000, 1_234_567.891, 0.5, 0.005, 1.005, 2.675, 99.995, 1e15, 1e20,
  ],
  ...[0.1 + 0.2, 1 / 3, 2 / 3, 123_456_789.123_456, 50_000.0001, Number.MAX_SAFE_INTEGER],
]
const digits = [
  {},
  { minimumFractionDigits: 2, maximumFractionDigits: 2 },
  { minimumFractionDigits: 1, maximumFractionDigits: 1 },
  { minimumFractionDigits: 2, maximumFractionDigits: 4 },
  { maximumFractionDigits: 0 },
  { minimumFractionDigits: 5 },
]

test.each(['en-GB', 'ru-RU'])('numbers of %s are written as the browser writes them', locale => {
  for (const options of digits) {
    const browser = new Intl.NumberFormat(locale, options)
    for (const value of values.flatMap(value => [value, -value])) {
      expect(decimal(locale, options, value), `${value} with ${JSON.stringify(options)}`).toBe(browser.format(value))
    }
  }
})

test('formats that only the browser knows are left to the browser', () => {
  const unit = { style: 'unit', unit: 'minute' } as const
  expect([
    decimal('en-GB', unit, 1),
    decimal('de', {}, 1),
    decimal('en-GB', {}, Number.NaN),
    decimal('ru-RU', {}, 1e-7),
  ]).toEqual([undefined, undefined, undefined, undefined])
})
