import { localTimeToInstant } from '../../base/time/sending-window.ts'
import { monthOf } from '../ledger/account.ts'
import type { HourSums } from './store.ts'

/** The moments that an overview compares, on the clock of the billing zone. */
export type Days = {
  now: Date
  /** The beginnings of today, of yesterday, and of the seven days before today. */
  today: Date
  yesterday: Date
  weekBefore: Date
  /** The hour that the chart begins with: 24 hours with the present one. */
  firstHour: Date
  /** As the ledger names them: `2026-07-01`. */
  month: string
  monthBefore: string
  dayOfMonth: number
  daysInMonth: number
  daysInMonthBefore: number
}

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const CHART_HOURS = 24

export function daysAt(now: Date, zone: string): Days {
  const date = dateIn(zone, now)
  const today = midnight(date, zone)
  const month = monthOf(now, zone)
  const monthBefore = monthOf(new Date(midnight(month, zone).getTime() - HOUR_MS), zone)
  return {
    now,
    today,
    yesterday: midnight(addDays(date, -1), zone),
    weekBefore: midnight(addDays(date, -7), zone),
    firstHour: new Date(hourOf(now).getTime() - (CHART_HOURS - 1) * HOUR_MS),
    month,
    monthBefore,
    dayOfMonth: Number(date.slice(8)),
    daysInMonth: daysIn(month),
    daysInMonthBefore: daysIn(monthBefore),
  }
}

export const hourOf = (moment: Date) => new Date(Math.floor(moment.getTime() / HOUR_MS) * HOUR_MS)

const dateIn = (zone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(moment)

const midnight = (date: string, zone: string) => localTimeToInstant(`${date} 00:00:00`, { name: zone })!

/** Adds calendar days. Changes of summer time do not matter. */
export const addDays = (date: string, days: number) =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

function daysIn(month: string): number {
  const [year, number] = month.split('-').map(Number)
  return new Date(Date.UTC(year!, number!, 0)).getUTCDate()
}

export type ChartHour = { hour: Date; delivered: number; onTheWay: number; failed: number }

/**
 * The hours of the chart, empty ones too. A message is counted in the hour of its result; one without a result yet, in
 * the hour in which it was sent.
 */
export function chartOf(hours: HourSums[], { firstHour }: Days): ChartHour[] {
  const waiting = withoutResult(hours)
  const found = new Map(hours.map(sums => [sums.hour.getTime(), sums]))
  return Array.from({ length: CHART_HOURS }, (_, place) => {
    const at = firstHour.getTime() + place * HOUR_MS
    const sums = found.get(at)
    return {
      hour: new Date(at),
      delivered: sums?.delivered ?? 0,
      onTheWay: waiting.get(at) ?? 0,
      failed: sums?.failed ?? 0,
    }
  })
}

/**
 * How many messages of each hour have no result yet. The rolled-up hours do not say which result belongs to which hour
 * of sending, so the first results count for the messages that were sent first.
 */
export function withoutResult(hours: HourSums[]): Map<number, number> {
  const open: { at: number; count: number }[] = []
  for (const { hour, sent, delivered, failed } of hours) {
    open.push({ at: hour.getTime(), count: sent })
    let results = delivered + failed
    while (results > 0 && open.length > 0) {
      const taken = Math.min(results, open[0]!.count)
      open[0]!.count -= taken
      results -= taken
      if (open[0]!.count > 0) break
      open.shift()
    }
  }
  return new Map(open.map(({ at, count }) => [at, count]))
}

/** The messages sent between two moments. Of the last hour, the elapsed share counts. */
export function sentBetween(hours: HourSums[], from: Date, until: Date): number {
  let sent = 0
  for (const sums of hours) {
    const at = sums.hour.getTime()
    if (at < hourOf(from).getTime() || at >= until.getTime()) continue
    sent += sums.sent * Math.min(1, (until.getTime() - at) / HOUR_MS)
  }
  return Math.round(sent)
}

/** The share of delivered messages among messages with a result; null without results. */
export const shareOf = ({ delivered, failed }: { delivered: number; failed: number }): number | null =>
  delivered + failed === 0 ? null : delivered / (delivered + failed)
