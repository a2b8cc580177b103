import type { Language } from '../../../src/domain/people/person.ts'
import { dateFormat, numberFormat } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'

/** Times in the billing zone, because the figures are of its days. Also shares and durations. */
export function clockOf(language: Language, zone: string) {
  const locale = locales[language]
  const format = (options: Intl.DateTimeFormatOptions) => dateFormat(locale, { timeZone: zone, ...options })
  const time = format({ hour: '2-digit', minute: '2-digit' })
  const day = format({ day: 'numeric', month: 'short' })
  const longDay = format({ weekday: 'long', day: 'numeric', month: 'long' })
  const tenths = numberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const wholes = numberFormat(locale)
  // British English writes `mins`, Russian and American English `min`.
  const unitLocale = language === 'en' ? 'en-US' : locale
  const unit = (name: string) => numberFormat(unitLocale, { style: 'unit', unit: name, unitDisplay: 'short' })
  const [minutes, hours, dayCounts] = [unit('minute'), unit('hour'), unit('day')]

  return {
    time,
    day: (moment: string | Date) => day(moment).replace('.', ''),
    today: (moment: string | Date) => capital(longDay(moment)),
    month: format({ month: 'long' }),
    /** Formats a day without a time: `2026-11-15`. */
    date: dateFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'long' }),
    isMidnight: (moment: string | Date) => /^(00|24):00/.test(time(moment)),
    /** Rounded down, so that 100 % means every message. */
    share: (share: number) =>
      share === 1 || share === 0
        ? `${wholes(share * 100)}\u00a0%`
        : `${tenths(Math.floor(share * 1000 + 1e-9) / 10)}\u00a0%`,
    /** A share without decimals. */
    roughShare: (share: number) => `${wholes(Math.floor(share * 100 + 1e-9))}\u00a0%`,
    duration: (ms: number) => {
      const inMinutes = Math.max(1, Math.round(ms / 60_000))
      if (inMinutes < 60) return minutes(inMinutes)
      return inMinutes < 48 * 60 ? hours(Math.round(inMinutes / 60)) : dayCounts(Math.round(inMinutes / 1440))
    },
  }
}

export type Clock = ReturnType<typeof clockOf>

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** The zone in words, if it is the usual one. */
export const useZoneName = () => {
  const { say } = useWords()
  return (zone: string) => (zone === 'Europe/Moscow' ? say('overview.moscowTime') : zone)
}

export const useClock = (zone: string): Clock => clockOf(useWords().language, zone)
