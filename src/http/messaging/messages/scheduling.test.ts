import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SingleOptions } from '../../../domain/messages/single.ts'
import { type Classified, classify, loadNumbering, type Numbering } from '../../../domain/numbering/numbering.ts'
import { scheduleOf } from '../../../domain/singles/schedule.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld } from '../../../testing/world.ts'

/** When a message may go and when it ends: on the subscriber's clock, or on Moscow's. */

const MOSCOW = '79160000001'
const VLADIVOSTOK = '79024800001'
const KALININGRAD = '79003450001'
const GERMANY = '4915112345678'
const USA = '12025550123'
/** Not like the test numbers of the simulated operators; any of them will do. */
const numbers = [MOSCOW, VLADIVOSTOK, KALININGRAD, GERMANY, USA]

const api = useMessagingApi()
let key: string
let companyId: number
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(api.sql)
})

beforeEach(async () => {
  companyId = (await aWorld(api.sql)).companyId
  key = (await aKey(api.sql, companyId)).key
})

async function post(form: object, now: string) {
  api.now = new Date(now)
  const body = { channelType: 'SMS', senderName: 'sms_promo', destination: MOSCOW, content: 'Hello', ...form }
  return api.call({ method: 'POST', path: '/message', key, body })
}

/** When the message will go and end, as it is kept. */
async function kept(form: object, now: string) {
  const { status, body } = await post(form, now)
  expect({ status, body }).toMatchObject({ status: 200 })
  const [row] = await api.sql`
    select send_at, expires_at, waits_until from messages
    where company_id = ${companyId} and message_uuid = ${body.items[0].messageUuid}`
  const time = (at: Date | null) => at?.toISOString() ?? null
  return { sendAt: time(row!.sendAt), expiresAt: time(row!.expiresAt), waitsUntil: time(row!.waitsUntil) }
}

const sendAt = async (form: object, now: string) => (await kept(form, now)).sendAt

async function expectRefused(form: object, now: string, msg: string) {
  expect(await post(form, now)).toMatchObject({ status: 400, body: { error: { code: 4000, msg } } })
}

describe('a local time', () => {
  const localSendTime = '2026-07-02 09:00:00'
  const now = '2026-07-01T12:00:00Z'

  test.each([
    ['Moscow', MOSCOW, '2026-07-02T06:00:00.000Z'],
    ['Vladivostok', VLADIVOSTOK, '2026-07-01T23:00:00.000Z'],
    ['Kaliningrad', KALININGRAD, '2026-07-02T07:00:00.000Z'],
    ['Germany', GERMANY, '2026-07-02T07:00:00.000Z'],
    ['the United States', USA, '2026-07-02T13:00:00.000Z'],
  ])('is that of the subscriber: %s', async (_, destination, expected) => {
    expect(await sendAt({ destination, localSendTime }, now)).toBe(expected)
    expect(await sendAt({ destination, localSendTime, useLocalTime: true }, now)).toBe(expected)
    expect(await sendAt({ destination, localSendTime, useLocalTime: null }, now)).toBe(expected)
  })

  test.each(numbers)('is that of Moscow when the client says so: %s', async destination => {
    expect(await sendAt({ destination, localSendTime, useLocalTime: false }, now)).toBe('2026-07-02T06:00:00.000Z')
  })

  test('that has come already, or none at all, means at once', async () => {
    expect(await sendAt({}, now)).toBeNull()
    expect(await sendAt({ localSendTime: null }, now)).toBeNull()
    expect(await sendAt({ localSendTime: '2026-07-01 15:00:00' }, now)).toBeNull()
    expect(await sendAt({ localSendTime: '2026-07-01 15:00:01' }, now)).toBe('2026-07-01T12:00:01.000Z')
    // Nine in the evening of Vladivostok is now; nine in the evening of Moscow is not.
    expect(await sendAt({ destination: VLADIVOSTOK, localSendTime: '2026-07-01 22:00:00' }, now)).toBeNull()
    expect(await sendAt({ localSendTime: '2026-07-01 22:00:00' }, now)).toBe('2026-07-01T19:00:00.000Z')
  })

  test('that daylight saving time skips in Germany is moved behind the gap; of a repeated time the first counts', async () => {
    const german = (local: string, at: string) => sendAt({ destination: GERMANY, localSendTime: local }, at)
    expect(await german('2026-03-29 01:59:59', '2026-03-28T12:00:00Z')).toBe('2026-03-29T00:59:59.000Z')
    expect(await german('2026-03-29 02:30:00', '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:30:00.000Z')
    expect(await german('2026-03-29 03:00:00', '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(await german('2026-10-25 02:30:00', '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z')
    expect(await german('2026-10-25 03:00:00', '2026-10-24T12:00:00Z')).toBe('2026-10-25T02:00:00.000Z')
  })
})

describe('bounds', () => {
  const now = '2026-07-01T12:00:00Z'
  const tooFar = 'localSendTime: must be from 12 hours ago to 7 days from now'

  test.each([MOSCOW, VLADIVOSTOK])('of localSendTime hold for the bare value against UTC: %s', async destination => {
    for (const useLocalTime of [true, false]) {
      const at = (localSendTime: string) => ({ destination, localSendTime, useLocalTime })
      expect((await post(at('2026-07-01 00:00:00'), now)).status).toBe(200)
      expect((await post(at('2026-07-08 12:00:00'), now)).status).toBe(200)
      await expectRefused(at('2026-06-30 23:59:59'), now, tooFar)
      await expectRefused(at('2026-07-08 12:00:01'), now, tooFar)
    }
  })

  test('of localCompletionTime: not before the send time, not past, within 70 days', async () => {
    const until = (localCompletionTime: string, localSendTime: string | null = null) => ({
      localCompletionTime,
      localSendTime,
    })
    expect((await post(until('2026-07-02 09:00:00', '2026-07-02 09:00:00'), now)).status).toBe(200)
    const early = 'localCompletionTime: must not be before localSendTime'
    await expectRefused(until('2026-07-02 08:59:59', '2026-07-02 09:00:00'), now, early)
    const past = 'localCompletionTime: must not be in the past'
    expect((await post(until('2026-07-01 15:00:01'), now)).status).toBe(200)
    await expectRefused(until('2026-07-01 15:00:00'), now, past)
    // It is ten at night in Vladivostok, and not yet past in Moscow.
    await expectRefused({ ...until('2026-07-01 21:00:00'), destination: VLADIVOSTOK }, now, past)
    expect((await post(until('2026-07-01 21:00:00'), now)).status).toBe(200)
    expect((await post(until('2026-09-09 12:00:00'), now)).status).toBe(200)
    await expectRefused(until('2026-09-09 12:00:01'), now, 'localCompletionTime: must be within 70 days from now')
  })

  test.each([
    ['SMS', 'sms_promo', 'Hello', 60],
    ['VK', 'anyone', 'Hello', 60],
    ['TELEGRAM', 'bot', { contentType: 'text', text: 'Hello' }, 60],
    ['WEASY', 'anyone', 'Hello', 60],
    ['PUSH', 'shop', { text: 'Hello' }, 60],
    ['TEXT_TO_SPEECH', '74950000000', { contentType: 'tts', text: 'Hello' }, 60],
    ['FLASHCALL', 'anyone', '1234', 30],
    ['VOICECODE', 'voicecode', { contentType: 'text', text: 'Code 1234' }, 30],
  ])('of ttl for %s, and it is counted from the time of sending', async (channelType, senderName, content, least) => {
    const having = (ttl: number) => ({ channelType, senderName, content, ttl })
    expect(await kept(having(least), now)).toEqual({
      sendAt: null,
      expiresAt: new Date(Date.parse(now) + least * 1000).toISOString(),
      waitsUntil: null,
    })
    expect(await kept({ ...having(86_400), localSendTime: '2026-07-02 15:00:00' }, now)).toEqual({
      sendAt: '2026-07-02T12:00:00.000Z',
      expiresAt: '2026-07-03T12:00:00.000Z',
      waitsUntil: null,
    })
    for (const ttl of [least - 1, 86_401]) {
      const { status, body } = await post(having(ttl), now)
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 4000 } } })
      expect(body.error.msg).toMatch(/^ttl: must be \d+ to 86400$/)
    }
  })
})

describe('waiting', () => {
  const now = '2026-07-01T12:00:00Z'
  const localCompletionTime = '2026-07-04 15:00:00'

  test('without a ttl ends 25 hours after the message may go, or when it must be completed', async () => {
    expect(await kept({}, now)).toEqual({ sendAt: null, expiresAt: null, waitsUntil: '2026-07-02T13:00:00.000Z' })
    expect(await kept({ localSendTime: '2026-07-02 15:00:00' }, now)).toEqual({
      sendAt: '2026-07-02T12:00:00.000Z',
      expiresAt: null,
      waitsUntil: '2026-07-03T13:00:00.000Z',
    })
    const completed = { sendAt: null, expiresAt: null, waitsUntil: '2026-07-04T12:00:00.000Z' }
    expect(await kept({ localCompletionTime }, now)).toEqual(completed)
  })

  test('for hours and days ends with the ttl, counted from acceptance or from the wanted time', async () => {
    const tomorrow = { hours: [9], ttl: 60 }
    expect(await kept(tomorrow, now)).toEqual({
      sendAt: '2026-07-02T06:00:00.000Z',
      expiresAt: '2026-07-01T12:01:00.000Z',
      waitsUntil: null,
    })
    expect(await kept({ ...tomorrow, localSendTime: '2026-07-02 20:00:00' }, now)).toEqual({
      sendAt: '2026-07-03T06:00:00.000Z',
      expiresAt: '2026-07-02T17:01:00.000Z',
      waitsUntil: null,
    })
    // A wanted time that is past means now.
    expect((await kept({ ...tomorrow, localSendTime: '2026-07-01 09:00:00' }, now)).expiresAt).toBe(
      '2026-07-01T12:01:00.000Z',
    )
  })

  test('with a ttl ends with it, however late the completion is', async () => {
    expect(await kept({ localCompletionTime, ttl: 60 }, now)).toEqual({
      sendAt: null,
      expiresAt: '2026-07-01T12:01:00.000Z',
      waitsUntil: null,
    })
  })
})

describe('hours and days', () => {
  test('lie across midnight', async () => {
    const nights = { hours: [22, 23, 0, 1] }
    expect(await sendAt(nights, '2026-07-01T18:59:59Z')).toBe('2026-07-01T19:00:00.000Z')
    expect(await sendAt(nights, '2026-07-01T21:30:00Z')).toBeNull()
    expect(await sendAt(nights, '2026-07-01T23:00:00Z')).toBe('2026-07-02T19:00:00.000Z')
    expect(await sendAt({ ...nights, destination: VLADIVOSTOK }, '2026-07-01T12:30:00Z')).toBeNull()
  })

  test('lie across the end of a week, a month and a year', async () => {
    const office = { hours: [9, 10], days: [1, 2, 3, 4, 5] }
    expect(await sendAt(office, '2026-07-03T09:00:00Z')).toBe('2026-07-06T06:00:00.000Z')
    expect(await sendAt({ days: [7] }, '2026-07-05T21:00:00Z')).toBe('2026-07-11T21:00:00.000Z')
    expect(await sendAt({ hours: [8] }, '2026-04-30T12:00:00Z')).toBe('2026-05-01T05:00:00.000Z')
    expect(await sendAt({ hours: [8] }, '2026-12-31T12:00:00Z')).toBe('2027-01-01T05:00:00.000Z')
    expect(await sendAt({ days: [1] }, '2028-02-28T21:00:00Z')).toBe('2028-03-05T21:00:00.000Z')
  })

  test('are local hours of Germany on the days of the clock change', async () => {
    const german = (hours: number[], at: string) => sendAt({ destination: GERMANY, hours }, at)
    expect(await german([2], '2026-03-28T23:30:00Z')).toBe('2026-03-30T00:00:00.000Z')
    expect(await german([3], '2026-03-28T23:30:00Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(await german([2], '2026-10-25T01:30:00Z')).toBeNull()
    expect(await german([4], '2026-10-25T00:30:00Z')).toBe('2026-10-25T03:00:00.000Z')
  })

  test('begin with the send time, and what finds no opening before its completion waits for that and ends', async () => {
    const form = { hours: [9], localSendTime: '2026-07-02 10:00:00' }
    expect(await sendAt(form, '2026-07-01T12:00:00Z')).toBe('2026-07-03T06:00:00.000Z')
    const closed = { ...form, localCompletionTime: '2026-07-02 20:00:00' }
    expect(await kept(closed, '2026-07-01T12:00:00Z')).toEqual({
      sendAt: '2026-07-02T17:00:00.000Z',
      expiresAt: null,
      waitsUntil: '2026-07-02T17:00:00.000Z',
    })
    const [timer] =
      await api.sql`select due_at from message_timers where kind = 'complete' order by message_uuid desc limit 1`
    expect(timer!.dueAt.toISOString()).toBe('2026-07-02T17:00:00.000Z')
  })
})

/**
 * The same rules written the slow way: minute by minute, asking Intl what the clock on the wall shows. Times are whole
 * minutes and offsets whole minutes too, so that no opening lies between two of its looks.
 */
describe('a slow model, minute by minute', () => {
  const MINUTE = 60_000
  const LAST_LOOK = 22 * 24 * 60

  const formats = new Map<string, Intl.DateTimeFormat>()
  function wall(zone: string, ms: number) {
    const format =
      formats.get(zone) ??
      new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' })
    formats.set(zone, format)
    const [day, month, year, hour, minute] = format.format(ms).split(/\D+/)
    const weekday = new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDay() || 7
    return { text: `${year}-${month}-${day} ${hour}:${minute}:00`, hour: Number(hour), weekday }
  }

  /** The first minute that the wall shows this time, or, where it never does, what it would have shown. */
  function instantOf(local: string, zone: string): number {
    const bare = Date.parse(`${local.replace(' ', 'T')}Z`)
    for (let ms = bare - 14 * 60 * MINUTE; ms <= bare + 14 * 60 * MINUTE; ms += MINUTE) {
      if (wall(zone, ms).text === local) return ms
    }
    return instantOf(new Date(bare - 60 * MINUTE).toISOString().slice(0, 19).replace('T', ' '), zone) + 60 * MINUTE
  }

  function model(options: SingleOptions, zone: string, nowMs: number) {
    const wanted = options.localSendTime ? instantOf(options.localSendTime, zone) : nowMs
    const end = options.localCompletionTime ? instantOf(options.localCompletionTime, zone) : Number.POSITIVE_INFINITY
    let opening: number | undefined
    for (
      let i = 0, ms = Math.max(nowMs, wanted);
      i < LAST_LOOK && ms < end && opening === undefined;
      i++, ms += MINUTE
    ) {
      const { hour, weekday } = wall(zone, ms)
      if ((options.hours ?? [hour]).includes(hour) && (options.days ?? [weekday]).includes(weekday)) opening = ms
    }
    const sendAtMs = opening ?? end
    const completeBy = end === Number.POSITIVE_INFINITY ? null : end
    const times = { sendAt: sendAtMs <= nowMs ? null : sendAtMs, completeBy }
    // "Waiting ends at ttl or localCompletionTime, of a single message without either after 25 hours."
    // A ttl counts while the message waits for its hours and days, too.
    const start = Math.max(nowMs, wanted)
    if (options.ttl) return { ...times, endsEarly: true, expiresAt: start + options.ttl * 1000 }
    if (options.localCompletionTime) return { ...times, endsEarly: false, expiresAt: end }
    return { ...times, endsEarly: false, expiresAt: sendAtMs + 25 * 60 * MINUTE }
  }

  const zones: Record<string, string> = {
    [MOSCOW]: 'Europe/Moscow',
    [VLADIVOSTOK]: 'Asia/Vladivostok',
    [KALININGRAD]: 'Europe/Kaliningrad',
    [GERMANY]: 'Europe/Berlin',
    [USA]: 'America/New_York',
  }
  // Around the changes of the clock, ends of months and years, and a leap day.
  const days = ['2026-03-08', '2026-03-28', '2026-10-24', '2026-10-31', '2026-12-30', '2028-02-28', '2026-07-01']
  const localTime = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
  const minutes = (from: number, to: number) => fc.integer({ min: from, max: to }).map(count => count * MINUTE)
  const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

  const asked = fc.record({
    number: fc.constantFrom(...numbers),
    useLocalTime: fc.boolean(),
    now: fc
      .tuple(fc.constantFrom(...days), minutes(0, 2 * 24 * 60))
      .map(([day, after]) => Date.parse(`${day}T00:00:00Z`) + after),
    sendMs: some(minutes(-12 * 60, 7 * 24 * 60)),
    lastsMs: some(minutes(1, 60 * 24 * 60)),
    hours: some(fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 4 })),
    days: some(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 })),
    ttl: some(fc.integer({ min: 1, max: 1440 }).map(count => count * 60)),
  })

  test('finds the same time of sending and the same end', () => {
    let compared = 0
    fc.assert(
      fc.property(asked, ({ number, useLocalTime, now, sendMs, lastsMs, hours, days: weekdays, ttl }) => {
        const options: SingleOptions = {
          useLocalTime,
          localSendTime: sendMs === null ? null : localTime(now + sendMs),
          localCompletionTime: lastsMs === null ? null : localTime(now + Math.max(0, sendMs ?? 0) + lastsMs),
          hours,
          days: weekdays,
          ttl,
        }
        const found = classify(numbering, number) as Exclude<Classified, { kind: 'refused' }>
        const schedule = scheduleOf(options, found, new Date(now))
        const zone = useLocalTime ? zones[number]! : 'Europe/Moscow'
        if ('field' in schedule) {
          expect(schedule).toEqual({ field: 'localCompletionTime', reason: 'must not be in the past' })
          expect(instantOf(options.localCompletionTime!, zone)).toBeLessThanOrEqual(now)
          return
        }
        compared += 1
        const times = {
          sendAt: schedule.sendAt?.getTime() ?? null,
          completeBy: schedule.completeBy?.getTime() ?? null,
          endsEarly: schedule.endsEarly,
          expiresAt: schedule.expiresAt.getTime(),
        }
        expect(times).toEqual(model(options, zone, now))
      }),
      { numRuns: 300, interruptAfterTimeLimit: 20_000 },
    )
    expect(compared).toBeGreaterThan(20)
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
