import type { Language } from '../../src/domain/people/person.ts'
import { dateFormat, numberFormat, relativeTimeFormat, signOfCurrency } from './words/intl.ts'
import { locales, useWords } from './words/words.ts'

/** Formats numbers, money and moments in the reader's language. */
export function formatsOf(language: Language) {
  const locale = locales[language]
  const number = numberFormat(locale)
  const amount = numberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const date = dateFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
  const month = dateFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const span = relativeTimeFormat(locale)

  return {
    number: (value: number) => withMinus(number(value)),
    /** With kopecks. The currency sign follows a no-break space in both languages. */
    money: (value: number, currency: string) => `${withMinus(amount(value))}\u00a0${signOfCurrency(locale, currency)}`,
    /** The sign of a currency, for the head of a column. */
    sign: (currency: string) => signOfCurrency(locale, currency),
    /** The separators of a number field. */
    separators: separators[language],
    /** Without the Russian `г.` after a year. */
    date: (moment: string | Date) => date(moment).replace(/\sг\.$/, ''),
    /** The month of `2026-11` or of a day, for use inside a sentence: `November 2026`. */
    monthOfYear: (day: string) => month(new Date(`${day.slice(0, 7)}-01T00:00:00Z`)).replace(/\sг\.$/, ''),
    moment: dateFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
    time: dateFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    /** `3 minutes ago`, in the largest unit that fits. Less than a minute ago is "now". */
    ago: (moment: string | Date, now = new Date()) => {
      const seconds = Math.min(0, (new Date(moment).getTime() - now.getTime()) / 1000)
      const [unit, size] = units.find(([, size]) => -seconds >= size) ?? ['second', Number.POSITIVE_INFINITY]
      return span(Math.ceil(seconds / size) || 0, unit)
    },
  }
}

const separators = {
  en: { thousandSeparator: ',', decimalSeparator: '.' },
  ru: { thousandSeparator: '\u00a0', decimalSeparator: ',' },
} as const

export type Formats = ReturnType<typeof formatsOf>

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const withMinus = (text: string) => text.replace('-', '−')

export const useFormats = (): Formats => formatsOf(useWords().language)
