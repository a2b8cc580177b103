import { useFormats } from '../format.ts'
import { dateFormat, numberFormat } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'

/** Formats amounts, days and months of the ledger. */
export function useMoneyFormats() {
  const { language } = useWords()
  const { money, number, sign, monthOfYear } = useFormats()
  const format = (options: Intl.DateTimeFormatOptions) => dateFormat(locales[language], { timeZone: 'UTC', ...options })
  const tenths = numberFormat(locales[language], { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const compact = numberFormat(language, { notation: 'compact', maximumSignificantDigits: 3 })
  return {
    money,
    number,
    sign,
    /** Short (`1.2M`) if the largest amount of the same group is long. */
    short: (amount: number, largest = amount) => (largest < LONG ? number(amount) : compact(amount)),
    share: (share: number) => `${tenths(share * 100)}\u00a0%`,
    day: format({ day: 'numeric', month: 'long' }),
    shortDay: (day: string) => format({ day: 'numeric', month: 'short' })(day).replace('.', ''),
    weekDay: (day: string) =>
      capital(format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })(day)).replace(/\sг\.$/, ''),
    month: (month: string) => format({ month: 'long' })(`${month.slice(0, 7)}-01`),
    monthOfYear,
    monthAndYear: (month: string) => capital(monthOfYear(month)),
  }
}

/** From this amount on, narrow places show the short form. */
export const LONG = 100_000

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Two decimals, or four if an amount of the list has fractions of a kopeck. So the displayed amounts add up. */
export function useAmounts(amounts: number[]) {
  const { language } = useWords()
  const places = amounts.every(amount => Math.abs(amount * 100 - Math.round(amount * 100)) < 1e-6) ? 2 : 4
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places }
  const number = numberFormat(locales[language], digits)
  return (amount: number) => number(amount).replace('-', '−')
}

/** Formats times in the billing zone, because the days of the ledger are in that zone. */
export function useTimes(zone: string) {
  const { language } = useWords()
  const format = (options: Intl.DateTimeFormatOptions) => dateFormat(locales[language], { timeZone: zone, ...options })
  const minutes = { hour: '2-digit', minute: '2-digit' } as const
  return { minute: format(minutes), second: format({ ...minutes, second: '2-digit' }) }
}
