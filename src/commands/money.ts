import { formatMoney, type Money } from '../base/money.ts'

/** An amount as people write it: thousands apart, and two places unless more are needed. */
export function shownAmount(amount: Money, currency: string): string {
  const [whole, places] = formatMoney(amount).split('.') as [string, string]
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}.${places.replace(/00$/, '')} ${currency}`
}
