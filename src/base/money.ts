/**
 * Amounts are exact: a Money is a whole number of ten-thousandths of the currency's main unit (0.0001 RUB is 1n).
 * In the database they are numeric(18, 4), in JSON plain numbers; nothing in between is a binary float.
 */
export type Money = bigint

const SCALE = 4
const UNITS = 10_000n
/** The format of the database. Most amounts have it, and they need no rounding. */
const asKept = /^-?\d+\.\d{4}$/
const decimal = /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i

/** Reads a decimal, rounding half-up (away from zero) to 4 places. */
export function money(value: string | number): Money {
  if (typeof value === 'string' && asKept.test(value)) return BigInt(value.replace('.', ''))
  const match = decimal.exec(String(value))
  if (!match) throw new TypeError(`"${value}" is not an amount`)
  const [, sign, whole, fraction = '', exponent = '0'] = match
  return applySign(sign!, shiftedHalfUp(`${whole}${fraction}`, SCALE - fraction.length + Number(exponent)))
}

/** Returns digits x 10^places as a whole number, rounded half-up. */
function shiftedHalfUp(digits: string, places: number): bigint {
  if (places >= 0) return BigInt(digits) * 10n ** BigInt(places)
  const divisor = 10n ** BigInt(-places)
  return (BigInt(digits) + divisor / 2n) / divisor
}

const applySign = (sign: string, units: bigint): Money => (sign === '-' ? -units : units)

/** For the database: always four places. */
export function formatMoney(amount: Money): string {
  const units = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${units / UNITS}.${String(units % UNITS).padStart(SCALE, '0')}`
}

/** For JSON: the double nearest to the exact amount. */
export const moneyToNumber = (amount: Money): number => Number(amount) / Number(UNITS)
