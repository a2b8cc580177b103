import { expect, test } from 'vitest'
import { endBySpeed, goesOnAt } from './end.ts'

/** Monday, 18:00 in Moscow. */
const evening = new Date('2026-11-16T15:00:00Z')
const night = new Date('2026-11-16T20:00:00Z')
const daytime = { startAt: null, endAt: null, hours: [10, 11, 12, 13, 14, 15, 16, 17, 18, 19], days: null }
const zone = { name: 'Europe/Moscow' }

test('the estimated end of a dispatch includes the hours in which it waits', () => {
  const dispatch = { waiting: 3 * 3600, hours: [{ messages: 9, window: { ...daytime, zone } }] }
  expect(endBySpeed({ ...dispatch, hours: [] }, 1, evening)).toEqual(new Date('2026-11-16T18:00:00Z'))
  expect(endBySpeed(dispatch, 1, evening)).toEqual(new Date('2026-11-17T08:00:00Z'))
  expect(goesOnAt(dispatch, evening)).toBeUndefined()
  expect(goesOnAt(dispatch, night)).toEqual(new Date('2026-11-17T07:00:00Z'))
  expect(
    goesOnAt({ ...dispatch, hours: [...dispatch.hours, { messages: 1, window: undefined }] }, night),
  ).toBeUndefined()
})
