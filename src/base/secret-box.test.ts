import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boxKey, open, seal } from './secret-box.ts'

const key = boxKey('a secret of many characters, say 32', 'gateways')

test('what is sealed is opened again, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(open(key, seal(key, text.toWellFormed()))).toBe(text.toWellFormed())
    }),
  )
})

test('a box shows nothing of the text, and is another one each time', () => {
  const [first, second] = [seal(key, 'sesame-open'), seal(key, 'sesame-open')]
  expect(first.includes('sesame')).toBe(false)
  expect(first.equals(second)).toBe(false)
})

test.each([
  ['another secret', boxKey('another secret of many characters!', 'gateways')],
  ['another purpose', boxKey('a secret of many characters, say 32', 'callbacks')],
])('the key of %s does not open it, and the error says so without the text', (_, other) => {
  const box = seal(key, 'sesame-open')
  expect(() => open(other, box)).toThrow(/^it was sealed with another secret, or is damaged$/)
})

test('a box that was changed anywhere, or cut, is not opened', () => {
  const box = seal(key, 'sesame')
  for (let place = 0; place < box.length; place++) {
    const changed = Buffer.from(box)
    changed[place]! ^= 1
    expect(() => open(key, changed), `byte ${place}`).toThrow(/^it /)
    expect(() => open(key, box.subarray(0, place)), `the first ${place} bytes`).toThrow(/^it /)
  }
})
