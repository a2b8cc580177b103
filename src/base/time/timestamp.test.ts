import { expect, test } from 'vitest'
import { readTimestamp } from './timestamp.ts'

test('a timestamp carries Z or an offset', () => {
  expect(readTimestamp('2026-07-01T10:00:00Z')).toEqual({ time: new Date('2026-07-01T10:00:00Z'), offsetMinutes: 0 })
  expect(readTimestamp('2026-07-01T10:00:00.250+03:00')?.time).toEqual(new Date('2026-07-01T07:00:00.250Z'))
  expect(readTimestamp('2026-07-01T10:00:00+0300')).toEqual({
    time: new Date('2026-07-01T07:00:00Z'),
    offsetMinutes: 180,
  })
  expect(readTimestamp('2026-07-01T10:00-04:30')?.offsetMinutes).toBe(-270)
})

test.each([
  '2026-07-01T10:00:00',
  '2026-07-01',
  '2026-02-29T10:00:00Z',
  '2026-13-01T10:00:00Z',
  '2026-07-01T24:00:00Z',
  '2026-07-01T10:60:00Z',
  '2026-07-01T10:00:00+15:00',
  '2026-07-01T10:00:00+03:75',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '1969-12-31T23:59:59Z',
  '9999-12-31T23:59:59-14:00',
  'tomorrow',
  '',
])('%j is refused', text => {
  expect(readTimestamp(text)).toBeUndefined()
})
