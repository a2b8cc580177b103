import type { Language } from '../../src/domain/people/person.ts'
import { locales, useWords } from './words/words.ts'

/** Numbers, money and moments as the reader's language writes them. */
export function formatsOf(language: Language) {
  const locale = locales[language]
  const numbers = new Intl.NumberFormat(locale)
  const amounts = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const dates = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
  const moments = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' })
  const times = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

  return {
    number: (value: number) => withMinus(numbers.format(value)),
    /** With kopecks, and the sign of the currency behind a no-break space in both languages. */
    money: (value: number, currency: string) => `${withMinus(amounts.format(value))}\u00a0${signOf(locale, currency)}`,
    /** Without the `г.` behind a year. */
    date: (moment: string | Date) => dates.format(new Date(moment)).replace(/\sг\.$/, ''),
    moment: (moment: string | Date) => moments.format(new Date(moment)),
    time: (moment: string | Date) => times.format(new Date(moment)),
    /** `3 minutes ago`, in the largest unit that fits; less than a minute ago is now. */
    ago: (moment: string | Date, now = new Date()) => {
      const seconds = Math.min(0, (new Date(moment).getTime() - now.getTime()) / 1000)
      const [unit, size] = units.find(([, size]) => -seconds >= size) ?? ['second', Number.POSITIVE_INFINITY]
      return relative.format(Math.ceil(seconds / size) || 0, unit)
    },
  }
}

export type Formats = ReturnType<typeof formatsOf>

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const withMinus = (text: string) => text.replace('-', '−')

const signOf = (locale: string, currency: string) =>
  new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')!.value

const made = new Map<Language, Formats>()

/** Making the formats takes a moment: once for each language. */
export function useFormats(): Formats {
  const { language } = useWords()
  const formats = made.get(language) ?? formatsOf(language)
  made.set(language, formats)
  return formats
}
