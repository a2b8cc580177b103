import { expect, test } from 'vitest'
import { endOfSending } from './sending-end.ts'

const at = (text: string) => new Date(`2026-11-${text}:00Z`) // 13 November is a Friday
const office = { hours: [10, 11, 12, 13, 14, 15, 16, 17], days: [1, 2, 3, 4, 5], zone: { offsetMinutes: 0 } }

test('without hours the end follows from the speed alone', () => {
  expect(endOfSending([{ messages: 7200, window: undefined }], 1, at('12T14:00'))).toEqual(at('12T16:00'))
  expect(endOfSending([], 1, at('12T14:00'))).toEqual(at('12T14:00'))
})

test('messages that do not fit into the hours are sent on the next allowed day', () => {
  const shares = [{ messages: 3 * 3600, window: office }]
  expect(endOfSending(shares, 1, at('12T09:00'))).toEqual(at('12T13:00'))
  expect(endOfSending(shares, 1, at('12T17:00'))).toEqual(at('13T12:00'))
  expect(endOfSending(shares, 1, at('13T17:00'))).toEqual(at('16T12:00'))
})

test('zones share the speed while both may send, and each waits for its own hours', () => {
  const east = { ...office, zone: { offsetMinutes: 120 } } // 08:00 to 16:00 in UTC
  const shares = [
    { messages: 3600, window: office },
    { messages: 3 * 3600, window: east },
  ]
  expect(endOfSending(shares, 1, at('12T08:00'))).toEqual(at('12T12:00'))
  expect(endOfSending(shares, 1, at('12T15:00'))).toEqual(at('13T10:15'))
})

test('no message is sent after the end of the window', () => {
  const window = { endAt: at('12T15:00'), zone: { offsetMinutes: 0 } }
  expect(endOfSending([{ messages: 9999, window }], 1, at('12T14:00'))).toEqual(at('12T15:00'))
})

test('an end after more than 60 days is not estimated', () => {
  expect(endOfSending([{ messages: 1e9, window: office }], 1, at('12T14:00'))).toBeUndefined()
  expect(endOfSending([{ messages: 1e9, window: undefined }], 0.001, at('12T14:00'))).toBeUndefined()
})
