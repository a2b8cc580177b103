import { dateFormat } from '../../words/intl.ts'
import type { Words } from '../../words/words.ts'

/** `Mon–Fri, 09:00–21:00`. */
export function describeHours(words: Words, { hours, days }: { hours: number[]; days: number[] }): string {
  const { say } = words
  if (hours.length === 0 || days.length === 0) return say('new.when.nothing')
  if (hours.length === 24 && days.length === 7) return say('new.when.any')
  return `${daysIn(words, days)}, ${hoursIn(hours)}`
}

export const daysIn = (words: Words, days: number[]) =>
  runsOf(days)
    .map(([first, last]) =>
      first === last ? dayName(words, first) : `${dayName(words, first)}–${dayName(words, last)}`,
    )
    .join(', ')

export const hoursIn = (hours: number[]) =>
  runsOf(hours)
    .map(([first, last]) => `${clock(first)}–${clock(last + 1)}`)
    .join(', ')

function runsOf(values: number[]): [number, number][] {
  const runs: [number, number][] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last && last[1] === value - 1) last[1] = value
    else runs.push([value, value])
  }
  return runs
}

export const clock = (hour: number) => `${String(hour).padStart(2, '0')}:00`

/** 1 is Monday. 5 January 1970 was a Monday. */
export const dayName = ({ language }: Words, day: number, weekday: 'short' | 'long' = 'short') =>
  dateFormat(language, { weekday, timeZone: 'UTC' })(new Date(Date.UTC(1970, 0, 4 + day)))

/** The time spans of a rate limit. */
export const termNames = {
  second: 'new.when.second',
  minute: 'new.when.minute',
  hour: 'new.when.hourTerm',
  day: 'new.when.day',
} as const
