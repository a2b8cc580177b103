import { dateFormat, numberFormat } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'

const units = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Shares, spans of time and times of day in the reader's language. */
export function useFigures() {
  const { language } = useWords()
  const locale = locales[language]
  const share = numberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return {
    share: (part: number, whole: number) => `${share((part / whole) * 100)}\u00a0%`,
    amount: numberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    clock: dateFormat(locale, { hour: '2-digit', minute: '2-digit' }),
    /** The largest unit and the next smaller unit: `1 h 18 min`. */
    span: (seconds: number) => spanOf(locale, Math.max(1, Math.round(seconds))),
  }
}

function spanOf(locale: string, seconds: number): string {
  const first = units.findIndex(([, size]) => seconds >= size)
  let left = seconds
  const words = units.slice(first, first + 2).flatMap(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : numberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' })(count)
  })
  return words.join(' ').replaceAll(' ', '\u00a0')
}
