import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money, money } from '../../base/money.ts'

/** Far above any real price, and low enough that the sum of a large dispatch fits into the database. */
export const MOST_FOR_PART = money('1000000')
export const MOST_FOR_PACKAGE = money('1000000000')

/** The amount as it is written: digits with at most four places. Rounding would change a price without a word. */
export function readAmount(value: number | string, most: Money, what: string): Money {
  const amount = /^\d{1,15}(\.\d{1,4})?$/.test(String(value)) ? money(value) : undefined
  if (amount !== undefined && amount <= most) return amount
  throw new UsageError(
    `${what} "${value}" is not an amount from 0 to ${wholeOf(most)} with at most four places, such as 5.90.`,
  )
}

const wholeOf = (amount: Money) => formatMoney(amount).split('.')[0]
