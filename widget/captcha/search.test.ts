import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeSearch } from './search.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

// The hashed text ends before, at and after the places where SHA-256 begins another block.
test.each([0, 1, 50, 54, 55, 56, 62, 63, 64, 65, 118, 119, 127, 128, 200])(
  'the number is found for a salt of %i characters',
  length => {
    const salt = 'aZ9?&=é'.repeat(50).slice(0, length)
    for (const number of [0, 9, 1234]) expect(makeSearch(salt, sha256(`${salt}${number}`))(0, 2000)).toBe(number)
  },
)

test('a number outside of the range is not found', () => {
  const search = makeSearch('salt', sha256('salt500'))
  expect([search(0, 500), search(501, 600), search(500, 501)]).toEqual([undefined, undefined, 500])
})
