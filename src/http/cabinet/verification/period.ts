import { invalid } from '../../../base/errors.ts'
import type { StatisticsSum } from '../../../domain/verifications/verifications.ts'

const DAY_MS = 24 * 3600_000
const USUAL_DAYS = 14
const MOST_DAYS = 366

export type Period = { from: string; to: string }

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

export const lastDays = (now: Date, days: number): Period => ({
  from: dayOf(now.getTime() - (days - 1) * DAY_MS),
  to: dayOf(now.getTime()),
})

export function periodOf(given: { from?: string; to?: string }, now: Date): Period {
  for (const name of ['from', 'to'] as const)
    if (given[name] !== undefined && !isDay(given[name])) throw invalid(`${name}: must be a day such as 2026-05-01`)
  const to = given.to ?? dayOf(now.getTime())
  const from = given.from ?? lastDays(new Date(to), USUAL_DAYS).from
  if (from > to) throw invalid('from: must not be after to')
  if (daysOf({ from, to }).length > MOST_DAYS) throw invalid(`from: must be at most ${MOST_DAYS} days before to`)
  return { from, to }
}

/** A day of the calendar. It refuses 30 February. */
const isDay = (text: string) => !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text

export function daysOf({ from, to }: Period): string[] {
  const count = Math.min((Date.parse(to) - Date.parse(from)) / DAY_MS, MOST_DAYS) + 1
  return Array.from({ length: count }, (_, i) => dayOf(Date.parse(from) + i * DAY_MS))
}

export function periodBefore(period: Period): Period {
  const days = daysOf(period).length
  const earlier = (day: string) => dayOf(Date.parse(day) - days * DAY_MS)
  return { from: earlier(period.from), to: earlier(period.to) }
}

/** The sum of all days, channels, countries and verifiers of a period. */
export const isTotal = ({ day, channelType, country, verifierId }: StatisticsSum) =>
  day === null && channelType === null && country === null && verifierId === null
