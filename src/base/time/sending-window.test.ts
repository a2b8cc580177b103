import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { closesAt, localTimeToInstant, nextOpening, type SendingWindow, type Zone } from './sending-window.ts'

const moscow: Zone = { offsetMinutes: 180 }
const berlin: Zone = { name: 'Europe/Berlin' }
const newYork: Zone = { name: 'America/New_York' }
const lordHowe: Zone = { name: 'Australia/Lord_Howe' }
const saoPaulo: Zone = { name: 'America/Sao_Paulo' }

const opening = (window: SendingWindow, now: string) => nextOpening(window, new Date(now))?.toISOString()
const closing = (window: SendingWindow, now: string) => closesAt(window, new Date(now))?.toISOString()

describe('the next opening', () => {
  test('is now when there is no restriction, or when it is allowed now', () => {
    const now = new Date('2026-07-01T10:20:30.400Z')
    expect(nextOpening({ zone: moscow }, now)).toBe(now)
    expect(nextOpening({ zone: moscow, hours: [13], days: [3] }, now)).toBe(now)
    expect(nextOpening({ zone: moscow, hours: null, days: null, startAt: null, endAt: null }, now)).toBe(now)
  })

  test('is startAt, or the first allowed hour after it; a startAt in the past means now', () => {
    const startAt = new Date('2026-07-10T10:20:00Z')
    expect(opening({ zone: moscow, startAt }, '2026-07-01T00:00:00Z')).toBe('2026-07-10T10:20:00.000Z')
    expect(opening({ zone: moscow, startAt, hours: [13, 14] }, '2026-07-01T00:00:00Z')).toBe('2026-07-10T10:20:00.000Z')
    expect(opening({ zone: moscow, startAt, hours: [9] }, '2026-07-01T00:00:00Z')).toBe('2026-07-11T06:00:00.000Z')
    expect(opening({ zone: moscow, startAt }, '2026-08-01T00:00:00Z')).toBe('2026-08-01T00:00:00.000Z')
  })

  test('never comes once endAt has passed, or when the window opens only after it', () => {
    const endAt = new Date('2026-07-10T10:00:00Z')
    expect(opening({ zone: moscow, endAt }, '2026-07-10T09:59:59.999Z')).toBe('2026-07-10T09:59:59.999Z')
    expect(opening({ zone: moscow, endAt }, '2026-07-10T10:00:00Z')).toBeUndefined()
    expect(opening({ zone: moscow, endAt, hours: [13] }, '2026-07-10T09:00:00Z')).toBeUndefined()
    expect(opening({ zone: moscow, endAt, startAt: endAt }, '2026-07-01T00:00:00Z')).toBeUndefined()
  })

  test('never comes when no hour or no day is allowed', () => {
    expect(opening({ zone: moscow, hours: [] }, '2026-07-10T10:00:00Z')).toBeUndefined()
    expect(opening({ zone: berlin, days: [] }, '2026-07-10T10:00:00Z')).toBeUndefined()
  })

  test('can be after midnight', () => {
    const nights = { zone: moscow, hours: [22, 23, 0, 1] }
    expect(opening(nights, '2026-07-01T18:59:59Z')).toBe('2026-07-01T19:00:00.000Z')
    expect(opening(nights, '2026-07-01T21:30:00Z')).toBe('2026-07-01T21:30:00.000Z')
    expect(opening(nights, '2026-07-01T23:00:00Z')).toBe('2026-07-02T19:00:00.000Z')
  })

  test('can be in the next week', () => {
    const office = { zone: moscow, hours: [9, 10, 11], days: [1, 2, 3, 4, 5] }
    expect(opening(office, '2026-07-03T09:00:00Z')).toBe('2026-07-06T06:00:00.000Z') // Friday noon to Monday
    expect(opening({ zone: moscow, days: [7] }, '2026-07-05T21:00:00Z')).toBe('2026-07-11T21:00:00.000Z')
  })

  test('can be in the next month or year', () => {
    const mornings = { zone: moscow, hours: [8] }
    expect(opening(mornings, '2026-04-30T12:00:00Z')).toBe('2026-05-01T05:00:00.000Z')
    expect(opening(mornings, '2026-12-31T12:00:00Z')).toBe('2027-01-01T05:00:00.000Z')
  })

  test('is on the leap day when there is one', () => {
    const mornings = { zone: moscow, hours: [8] }
    expect(opening(mornings, '2028-02-28T12:00:00Z')).toBe('2028-02-29T05:00:00.000Z')
    expect(opening(mornings, '2027-02-28T12:00:00Z')).toBe('2027-03-01T05:00:00.000Z')
    expect(opening({ zone: moscow, days: [2] }, '2028-02-28T12:00:00Z')).toBe('2028-02-28T21:00:00.000Z')
  })

  test('skips an hour that does not exist when the clock is put forward', () => {
    // Berlin, Sunday 29 March 2026: 02:00 becomes 03:00.
    expect(opening({ zone: berlin, hours: [2] }, '2026-03-28T12:00:00Z')).toBe('2026-03-30T00:00:00.000Z')
    expect(opening({ zone: berlin, hours: [2], days: [7] }, '2026-03-28T12:00:00Z')).toBe('2026-04-05T00:00:00.000Z')
    expect(opening({ zone: berlin, hours: [3] }, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
  })

  test('is in both hours of the same name when the clock is put back', () => {
    // New York, Sunday 1 November 2026: 02:00 EDT becomes 01:00 EST.
    const oneOClock = { zone: newYork, hours: [1] }
    expect(opening(oneOClock, '2026-11-01T04:30:00Z')).toBe('2026-11-01T05:00:00.000Z')
    expect(opening(oneOClock, '2026-11-01T05:30:00Z')).toBe('2026-11-01T05:30:00.000Z')
    expect(opening(oneOClock, '2026-11-01T06:30:00Z')).toBe('2026-11-01T06:30:00.000Z')
    expect(opening(oneOClock, '2026-11-01T07:00:00Z')).toBe('2026-11-02T06:00:00.000Z')
  })

  test('follows offsets of half an hour, and changes of half an hour', () => {
    expect(opening({ zone: { name: 'Asia/Kolkata' }, hours: [9] }, '2026-07-01T00:00:00Z')).toBe(
      '2026-07-01T03:30:00.000Z',
    )
    expect(opening({ zone: { offsetMinutes: -210 }, hours: [9] }, '2026-07-01T00:00:00Z')).toBe(
      '2026-07-01T12:30:00.000Z',
    )
    // Lord Howe, 4 October 2026: 02:00 becomes 02:30, so the hour from two is half as long.
    expect(opening({ zone: lordHowe, hours: [2] }, '2026-10-03T12:00:00Z')).toBe('2026-10-03T15:30:00.000Z')
    expect(closing({ zone: lordHowe, hours: [2] }, '2026-10-03T15:30:00Z')).toBe('2026-10-03T16:00:00.000Z')
  })

  test('is at one o’clock on a day without a midnight', () => {
    // São Paulo, Sunday 4 November 2018: midnight became 01:00.
    expect(opening({ zone: saoPaulo, days: [7] }, '2018-11-03T12:00:00Z')).toBe('2018-11-04T03:00:00.000Z')
    expect(opening({ zone: saoPaulo, days: [7], hours: [0] }, '2018-11-03T12:00:00Z')).toBe('2018-11-11T02:00:00.000Z')
  })

  test('skips a date that a zone left out', () => {
    // Samoa went from Thursday 29 to Saturday 31 December 2011.
    const fridays = { zone: { name: 'Pacific/Apia' }, days: [5] }
    expect(opening(fridays, '2011-12-29T12:00:00Z')).toBe('2012-01-05T10:00:00.000Z')
  })

  test('is found far in the past and far in the future', () => {
    const startAt = new Date('2399-12-31T22:00:00Z')
    expect(opening({ zone: berlin, hours: [9], startAt }, '2026-01-01T00:00:00Z')).toBe('2400-01-01T08:00:00.000Z')
    expect(opening({ zone: moscow, hours: [9] }, '1960-01-01T00:00:00Z')).toBe('1960-01-01T06:00:00.000Z')
  })
})

describe('the closing', () => {
  test('is the end of the last allowed hour in a row', () => {
    expect(closing({ zone: moscow, hours: [13, 14, 16] }, '2026-07-01T10:20:00Z')).toBe('2026-07-01T12:00:00.000Z')
    expect(closing({ zone: moscow, hours: [22, 23, 0] }, '2026-07-01T19:20:00Z')).toBe('2026-07-01T22:00:00.000Z')
    expect(closing({ zone: moscow, days: [3, 4] }, '2026-07-01T10:20:00Z')).toBe('2026-07-02T21:00:00.000Z')
    expect(closing({ zone: newYork, hours: [1] }, '2026-11-01T05:30:00Z')).toBe('2026-11-01T07:00:00.000Z')
    expect(closing({ zone: berlin, hours: [1, 3] }, '2026-03-29T00:30:00Z')).toBe('2026-03-29T02:00:00.000Z')
  })

  test('is endAt when that comes first, and never when nothing closes', () => {
    const endAt = new Date('2026-07-01T10:30:00Z')
    expect(closing({ zone: moscow, hours: [13], endAt }, '2026-07-01T10:20:00Z')).toBe('2026-07-01T10:30:00.000Z')
    expect(closing({ zone: moscow, endAt }, '2026-07-01T10:20:00Z')).toBe('2026-07-01T10:30:00.000Z')
    expect(closing({ zone: moscow, days: [1, 2, 3, 4, 5, 6, 7] }, '2026-07-01T10:20:00Z')).toBeUndefined()
  })

  test('is now when it is closed now', () => {
    const now = '2026-07-01T10:20:00.000Z'
    expect(closing({ zone: moscow, hours: [9] }, now)).toBe(now)
    expect(closing({ zone: moscow, endAt: new Date('2026-07-01T10:00:00Z') }, now)).toBe(now)
    expect(closing({ zone: moscow, startAt: new Date('2026-07-02T10:00:00Z') }, now)).toBe(now)
  })
})

describe('a local time', () => {
  const instant = (local: string, zone: Zone) => localTimeToInstant(local, zone)?.toISOString()

  test('is an instant', () => {
    expect(instant('2026-07-01 10:20:30', { name: 'Europe/Moscow' })).toBe('2026-07-01T07:20:30.000Z')
    expect(instant('2026-07-01 10:20:30', { offsetMinutes: 330 })).toBe('2026-07-01T04:50:30.000Z')
    expect(instant('2028-02-29 23:59:59', { name: 'UTC' })).toBe('2028-02-29T23:59:59.000Z')
    expect(instant('2026-01-01 00:00:00', newYork)).toBe('2026-01-01T05:00:00.000Z')
  })

  test('that does not exist is moved forward by the leap of the clock', () => {
    expect(instant('2026-03-29 01:59:59', berlin)).toBe('2026-03-29T00:59:59.000Z')
    expect(instant('2026-03-29 02:30:00', berlin)).toBe('2026-03-29T01:30:00.000Z') // 03:30
    expect(instant('2026-03-29 03:00:00', berlin)).toBe('2026-03-29T01:00:00.000Z')
    expect(instant('2018-11-04 00:10:00', saoPaulo)).toBe('2018-11-04T03:10:00.000Z') // 01:10
    expect(instant('2011-12-30 12:00:00', { name: 'Pacific/Apia' })).toBe('2011-12-30T22:00:00.000Z') // the 31st
  })

  test('that happens twice is the earlier one', () => {
    expect(instant('2026-11-01 01:30:00', newYork)).toBe('2026-11-01T05:30:00.000Z')
    expect(instant('2026-11-01 02:00:00', newYork)).toBe('2026-11-01T07:00:00.000Z')
    expect(instant('2026-04-05 01:45:00', lordHowe)).toBe('2026-04-04T14:45:00.000Z')
  })

  test.each([
    '2026-02-29 10:00:00',
    '2026-13-01 10:00:00',
    '2026-07-01 24:00:00',
    '2026-07-01 10:60:00',
    '2026-07-01T10:00:00',
    '2026-07-01 10:00',
    '2026-07-01 10:00:00Z',
    '',
  ])('%j is none', text => {
    expect(localTimeToInstant(text, berlin)).toBeUndefined()
  })

  test('of an unknown zone throws', () => {
    expect(() => localTimeToInstant('2026-07-01 10:00:00', { name: 'Europe/Atlantis' })).toThrow(RangeError)
  })
})

/** The model reads the clock of the system (the TZ of this process) minute by minute, without offsets. */
describe('beside a slow model', () => {
  const zoneOfThisProcess = process.env.TZ
  afterAll(() => setZone(zoneOfThisProcess))

  describe.each([
    'Europe/Moscow',
    'Asia/Yekaterinburg',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
  ])('in %s', name => {
    const zone = { name }
    const windows = fc.record({
      now: momentsOf(name),
      hours: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 24 })),
      days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 })),
      startAfterMs: fc.option(fc.integer({ min: -5 * DAY_MS, max: 5 * DAY_MS })),
      endAfterMs: fc.option(fc.integer({ min: -DAY_MS, max: 10 * DAY_MS })),
    })
    type Case = typeof windows extends fc.Arbitrary<infer T> ? T : never
    const windowOf = ({ now, hours, days, startAfterMs, endAfterMs }: Case): SendingWindow => ({
      zone,
      hours,
      days,
      startAt: startAfterMs === null ? null : new Date(now.getTime() + startAfterMs),
      endAt: endAfterMs === null ? null : new Date(now.getTime() + endAfterMs),
    })

    test('it opens at the same moment', () => {
      setZone(name)
      fc.assert(
        fc.property(windows, chosen => {
          const window = windowOf(chosen)
          expect(nextOpening(window, chosen.now)).toEqual(slowNextOpening(window, chosen.now))
        }),
        { numRuns: 300 },
      )
    })

    test('it closes at the same moment', () => {
      setZone(name)
      fc.assert(
        fc.property(windows, chosen => {
          const window = windowOf(chosen)
          const open = nextOpening(window, chosen.now)
          if (open) expect(closesAt(window, open)).toEqual(slowClosesAt(window, open))
        }),
        { numRuns: 300 },
      )
    })

    test('a local time is the first instant that shows it, or lies behind the leap', () => {
      setZone(name)
      fc.assert(
        fc.property(momentsOf(name), moment => {
          const asked = moment.toISOString().slice(0, 19).replace('T', ' ')
          const instant = localTimeToInstant(asked, zone)!
          const shown = shownAt(instant)
          if (shown === asked) {
            for (const earlier of [30, 60]) {
              expect(shownAt(new Date(instant.getTime() - earlier * 60_000))).not.toBe(asked)
            }
          } else {
            expect(shown > asked).toBe(true)
            expect(new Date(instant.getTime() - 2 * 3_600_000).getTimezoneOffset()).toBeGreaterThan(
              instant.getTimezoneOffset(),
            )
          }
        }),
        { numRuns: 500 },
      )
    })
  })

  test('at any fixed offset', () => {
    const cases = fc.record({
      now: fc.date({ min: new Date('1960-01-01'), max: new Date('2060-01-01'), noInvalidDate: true }),
      offsetMinutes: fc.integer({ min: -56, max: 56 }).map(quarters => quarters * 15),
      hours: fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1 }),
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    })
    fc.assert(
      fc.property(cases, ({ now, offsetMinutes, hours, days }) => {
        const isAllowed = allowedByFormat(offsetName(offsetMinutes), hours, days)
        const window = { zone: { offsetMinutes }, hours, days }
        expect(nextOpening(window, now)).toEqual(firstMinute(now, isAllowed))
      }),
      { numRuns: 150 },
    )
  })
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

function setZone(name: string | undefined) {
  if (name === undefined) delete process.env.TZ
  else process.env.TZ = name
  if (name)
    expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toMatch(/Calcutta|Kolkata/.test(name) ? /Asia/ : name)
}

/** Any moment of two decades, half of them within three days of a change of the clock. */
function momentsOf(name: string) {
  const first = Date.parse('2010-01-01T00:00:00Z')
  const last = Date.parse('2030-01-01T00:00:00Z')
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  const offset = (ms: number) => format.format(ms).split(', ')[1]
  const changes: number[] = []
  for (let ms = first; ms < last; ms += DAY_MS) if (offset(ms) !== offset(ms + DAY_MS)) changes.push(ms)
  const any = fc.integer({ min: first, max: last })
  const near = fc
    .tuple(fc.constantFrom(...changes, first), fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS }))
    .map(([change, away]) => change + away)
  return fc.oneof(any, near).map(ms => new Date(ms))
}

function slowNextOpening(window: SendingWindow, now: Date): Date | undefined {
  const from = window.startAt && window.startAt > now ? window.startAt : now
  const opening = firstMinute(from, at => isAllowedHere(window, at))
  return opening && window.endAt && opening >= window.endAt ? undefined : opening
}

function slowClosesAt(window: SendingWindow, now: Date): Date | undefined {
  const closing = firstMinute(now, at => !isAllowedHere(window, at))
  const { endAt } = window
  if (!closing || (endAt && endAt < closing)) return endAt ?? undefined
  return closing
}

/** The moment itself, or the first whole minute after it. */
function firstMinute(from: Date, isWanted: (at: Date) => boolean): Date | undefined {
  if (isWanted(from)) return from
  let ms = Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS
  for (let minutes = 0; minutes < 16 * 24 * 60; minutes++) {
    ms += MINUTE_MS
    const at = new Date(ms)
    if (isWanted(at)) return at
  }
  return undefined
}

function isAllowedHere({ hours, days }: SendingWindow, at: Date): boolean {
  return (!hours || hours.includes(at.getHours())) && (!days || days.includes(at.getDay() || 7))
}

function allowedByFormat(timeZone: string, hours: number[], days: number[]) {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: '2-digit', hourCycle: 'h23' })
  const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
  const allowed = new Set(
    days.flatMap(day => hours.map(hour => `${weekdays[day - 1]}, ${String(hour).padStart(2, '0')}`)),
  )
  return (at: Date) => allowed.has(format.format(at))
}

function offsetName(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

function shownAt(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
