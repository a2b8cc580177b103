import { afterEach, expect, test, vi } from 'vitest'
import { written } from './dates.ts'

const time = { hour: '2-digit', minute: '2-digit' } as const
const options: Intl.DateTimeFormatOptions[] = [
  time,
  { ...time, second: '2-digit' },
  { day: 'numeric', month: 'short' },
  { day: 'numeric', month: 'long' },
  { day: 'numeric', month: 'short', year: 'numeric' },
  { day: 'numeric', month: 'long', year: 'numeric' },
  { day: 'numeric', month: 'short', ...time },
  { month: 'long' },
  { month: 'long', year: 'numeric' },
  { weekday: 'long', day: 'numeric', month: 'long' },
  { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
]
/** Every hour of three days and one moment of each day of two years, midnights and leap days among them. */
const moments = [
  ...Array.from({ length: 72 }, (_, hour) => new Date(Date.UTC(2026, 9, 24, hour, 5, 9))),
  ...Array.from({ length: 731 }, (_, day) => new Date(Date.UTC(2027, 0, 1 + day, day % 24, day % 60))),
]

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

test.each(['en-GB', 'ru-RU'])('dates of %s are written as the browser writes them', locale => {
  for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Asia/Yekaterinburg']) {
    vi.stubEnv('TZ', zone)
    for (const one of options) {
      for (const timeZone of [undefined, 'UTC']) {
        const asked = timeZone ? { ...one, timeZone } : one
        const browser = new Intl.DateTimeFormat(locale, { ...one, timeZone: timeZone ?? zone })
        for (const moment of moments) {
          expect(written(locale, asked, moment), JSON.stringify(asked)).toBe(browser.format(moment))
        }
      }
    }
  }
})

test.each(['en-GB', 'ru-RU'])('dates of %s in another zone are written as the browser writes them', locale => {
  vi.stubGlobal('Temporal', {
    Instant: { fromEpochMilliseconds: (ms: number) => ({ toZonedDateTimeISO: zonedFrom(ms) }) },
  })
  for (const timeZone of ['Europe/Moscow', 'Pacific/Apia']) {
    for (const one of options) {
      const browser = new Intl.DateTimeFormat(locale, { ...one, timeZone })
      for (const moment of moments.slice(0, 400)) {
        expect(written(locale, { ...one, timeZone }, moment), JSON.stringify(one)).toBe(browser.format(moment))
      }
    }
  }
})

/** Node has no Temporal yet. Its months begin with 1, its weeks with Monday as 1 and end with Sunday as 7. */
const zonedFrom = (ms: number) => (zone: string) => {
  const { clock, date, weekday } = formatsOf(zone)
  const [hour, minute, second] = clock.format(ms).split(':').map(Number)
  const [day, month, year] = date.format(ms).split('/').map(Number)
  const dayOfWeek = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(weekday.format(ms)) + 1
  return { year, month, day, dayOfWeek, hour, minute, second }
}

const known = new Map<string, ReturnType<typeof newFormats>>()

/** Made once for each zone, because to make a format takes much longer than to use it. */
function formatsOf(zone: string) {
  if (!known.has(zone)) known.set(zone, newFormats(zone))
  return known.get(zone)!
}

function newFormats(timeZone: string) {
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { timeZone, ...options })
  return {
    clock: format({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    date: format({ day: '2-digit', month: '2-digit', year: 'numeric' }),
    weekday: format({ weekday: 'short' }),
  }
}

test('without Temporal another zone is left to the browser', () => {
  vi.stubGlobal('Temporal', undefined)
  expect(written('en-GB', { ...time, timeZone: 'Europe/Moscow' }, new Date())).toBeUndefined()
})

test('formats that only the browser knows are left to the browser', () => {
  const now = new Date()
  expect([
    written('de', time, now),
    written('en-GB', {}, now),
    written('en-GB', { hour: '2-digit' }, now),
    written('en-GB', { month: 'short' }, now),
    written('en-GB', { weekday: 'short' }, now),
    written('en-GB', { day: 'numeric', ...time }, now),
    written('en-GB', { day: 'numeric', month: 'long', ...time }, now),
    written('en-GB', { dateStyle: 'short' }, now),
    written('en-GB', time, new Date(Number.NaN)),
  ]).toEqual(Array(9).fill(undefined))
})
