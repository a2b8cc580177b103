import { locales, useWords } from '../words/words.ts'

const units = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Shares, spans of time and short moments in the reader's language. */
export function useFigures() {
  const { language } = useWords()
  const locale = locales[language]
  const share = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const amount = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const moment = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
  return {
    share: (part: number, whole: number) => `${share.format((part / whole) * 100)}\u00a0%`,
    amount: (value: number) => amount.format(value),
    moment: (at: string) => moment.format(new Date(at)),
    clock: (at: Date) => clock.format(at),
    /** The largest unit and the one below it: `1 h 18 min`. */
    span: (seconds: number) => spanOf(locale, Math.max(1, Math.round(seconds))),
  }
}

function spanOf(locale: string, seconds: number): string {
  const first = units.findIndex(([, size]) => seconds >= size)
  let left = seconds
  const words = units.slice(first, first + 2).flatMap(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(count)
  })
  return words.join(' ').replaceAll(' ', '\u00a0')
}
