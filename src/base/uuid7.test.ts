import { expect, test } from 'vitest'
import { timeOfUuid7, uuid7, uuid7Batch } from './uuid7.ts'

const moment = new Date('2026-07-01T12:34:56.789Z')

test('a key is a version 7 uuid that contains its time', () => {
  const key = uuid7(moment)
  expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(timeOfUuid7(key)).toEqual(moment)
})

test('the keys of a batch are different and rise in order', () => {
  const keys = uuid7Batch(moment, 100_000)
  expect(new Set(keys).size).toBe(100_000)
  expect(keys).toEqual(keys.toSorted())
})

test('a later moment gives later keys', () => {
  expect(uuid7(new Date(moment.getTime() + 1)) > uuid7Batch(moment, 1000).at(-1)!).toBe(true)
})
