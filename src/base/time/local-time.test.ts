import { expect, test } from 'vitest'
import { moscowTime, refusalOfTimes } from './local-time.ts'

const now = new Date('2026-07-01T12:00:00Z')
const moscow = { name: 'Europe/Moscow' }

test.each([
  ['localSendTime', '2026-07-01 00:00:00', '2026-06-30 23:59:59'],
  ['localSendTime', '2026-07-08 12:00:00', '2026-07-08 12:00:01'],
  ['localSendTime', '2026-07-02 10:00:00', '2026-07-02 25:00:00'],
  ['localCompletionTime', '2026-09-09 12:00:00', '2026-09-09 12:00:01'],
  ['localCompletionTime', '2026-07-01 15:00:01', '2026-07-01 15:00:00'],
  ['localCompletionTime', '2026-07-03 10:00:00', 'tomorrow'],
])('%s may be %s and not %s', (field, good, bad) => {
  expect(refusalOfTimes({ [field]: good }, moscow, now)).toBeUndefined()
  const refusal = refusalOfTimes({ [field]: bad }, moscow, now)
  expect(refusal).toEqual({ field, reason: expect.stringMatching(/^must /) })
})

test('a completion is in the past by the time of its zone, and must not be before the time to send', () => {
  const times = { localCompletionTime: '2026-07-01 14:30:00' }
  expect(refusalOfTimes(times, moscow, now)).toEqual({
    field: 'localCompletionTime',
    reason: 'must not be in the past',
  })
  expect(refusalOfTimes(times, { name: 'Europe/Kaliningrad' }, now)).toBeUndefined()
  expect(refusalOfTimes({ ...times, localSendTime: '2026-07-01 14:30:01' }, { name: 'Europe/London' }, now)).toEqual({
    field: 'localCompletionTime',
    reason: 'must not be before localSendTime',
  })
})

test('absent times are valid', () => {
  expect(refusalOfTimes({ localSendTime: null, localCompletionTime: null }, moscow, now)).toBeUndefined()
})

test('a moment is shown in Moscow time', () => {
  expect(moscowTime(new Date('2026-07-01T21:05:09Z'))).toBe('2026-07-02 00:05:09')
})
