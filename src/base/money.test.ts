import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatMoney, money, moneyToNumber } from './money.ts'

test('amounts are read exactly and rounded half-up to four places', () => {
  expect(money('0.1') + money('0.2')).toBe(money('0.3'))
  expect(money('1.00005')).toBe(10001n)
  expect(money('1.00004999')).toBe(10000n)
  expect(money('-1.00005')).toBe(-10001n)
  expect(money(2.675)).toBe(26750n)
  expect(money(1e-7)).toBe(0n)
  expect(money(5e-5)).toBe(1n)
  expect(money(1e15)).toBe(10_000_000_000_000_000_000n)
  expect(() => money('1,5')).toThrow('is not an amount')
  expect(() => money(Number.NaN)).toThrow('is not an amount')
})

test('a formatted amount is parsed to the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), units => {
      expect(money(formatMoney(units))).toBe(units)
    }),
  )
})

test('an amount with four decimal places survives JSON', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), units => {
      expect(money(JSON.parse(JSON.stringify(moneyToNumber(BigInt(units)))))).toBe(BigInt(units))
    }),
  )
})
