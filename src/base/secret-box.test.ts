import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boxKey, open, seal } from './secret-box.ts'

const key = boxKey('a secret of many characters, say 32', 'gateways')

test('every sealed text can be opened again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(open(key, seal(key, text.toWellFormed()))).toBe(text.toWellFormed())
    }),
  )
})

test('a sealed text shows nothing of the text, and sealing twice gives different bytes', () => {
  const [first, second] = [seal(key, 'sesame-open'), seal(key, 'sesame-open')]
  expect(first.includes('sesame')).toBe(false)
  expect(first.equals(second)).toBe(false)
})

test.each([
  ['another secret', boxKey('another secret of many characters!', 'gateways')],
  ['another purpose', boxKey('a secret of many characters, say 32', 'callbacks')],
])('the key of %s does not open the sealed text, and the error does not contain the text', (_, other) => {
  const box = seal(key, 'sesame-open')
  expect(() => open(other, box)).toThrow(/^it was sealed with another secret, or is damaged$/)
})

test('a sealed text that was changed or cut is not opened', () => {
  const box = seal(key, 'sesame')
  for (let place = 0; place < box.length; place++) {
    const changed = Buffer.from(box)
    changed[place]! ^= 1
    expect(() => open(key, changed), `byte ${place}`).toThrow(/^it /)
    expect(() => open(key, box.subarray(0, place)), `the first ${place} bytes`).toThrow(/^it /)
  }
})
