import type { Language } from '../../../src/domain/people/person.ts'
import { locales, useWords } from '../words/words.ts'

/** Times on the clock of the billing zone, whose days the figures are of, and shares and durations. */
export function clockOf(language: Language, zone: string) {
  const locale = locales[language]
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: zone, ...options })
  const times = format({ hour: '2-digit', minute: '2-digit' })
  const days = format({ day: 'numeric', month: 'short' })
  const longDays = format({ weekday: 'long', day: 'numeric', month: 'long' })
  const months = format({ month: 'long' })
  const dates = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'long' })
  const shares = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const wholes = new Intl.NumberFormat(locale)
  // British English writes `mins`, Russian and American English `min`.
  const unitLocale = language === 'en' ? 'en-US' : locale
  const unit = (name: string) => new Intl.NumberFormat(unitLocale, { style: 'unit', unit: name, unitDisplay: 'short' })
  const [minutes, hours, dayCounts] = [unit('minute'), unit('hour'), unit('day')]

  return {
    time: (moment: string | Date) => times.format(new Date(moment)),
    day: (moment: string | Date) => days.format(new Date(moment)).replace('.', ''),
    today: (moment: string | Date) => capital(longDays.format(new Date(moment))),
    month: (moment: string | Date) => months.format(new Date(moment)),
    /** Of a day without a time: `2026-11-15`. */
    date: (day: string) => dates.format(new Date(day)),
    isMidnight: (moment: string | Date) => /^(00|24):00/.test(times.format(new Date(moment))),
    /** Rounded down: 100 % means every one. */
    share: (share: number) =>
      share === 1 || share === 0
        ? `${wholes.format(share * 100)}\u00a0%`
        : `${shares.format(Math.floor(share * 1000 + 1e-9) / 10)}\u00a0%`,
    /** Where a tenth says nothing. */
    roughShare: (share: number) => `${wholes.format(Math.floor(share * 100 + 1e-9))}\u00a0%`,
    duration: (ms: number) => {
      const inMinutes = Math.max(1, Math.round(ms / 60_000))
      if (inMinutes < 60) return minutes.format(inMinutes)
      return inMinutes < 48 * 60
        ? hours.format(Math.round(inMinutes / 60))
        : dayCounts.format(Math.round(inMinutes / 1440))
    },
  }
}

export type Clock = ReturnType<typeof clockOf>

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const made = new Map<string, Clock>()

/** Making the formats takes a moment: once for each language and zone. */
export function useClock(zone: string): Clock {
  const { language } = useWords()
  const key = `${language} ${zone}`
  const clock = made.get(key) ?? clockOf(language, zone)
  made.set(key, clock)
  return clock
}
