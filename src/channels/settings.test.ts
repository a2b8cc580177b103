import { expect, test } from 'vitest'
import { address, flag, oneOf, optional, type RawSettings, text, whole } from './settings.ts'

const failing = (read: () => unknown) => expect(read).toThrow(/^setting "it" /)

test('a text may be written as a number', () => {
  expect(text({ it: 'abc' }, 'it')).toBe('abc')
  expect(text({ it: 1234 }, 'it')).toBe('1234')
  expect(text({}, 'it', 'otherwise')).toBe('otherwise')
  expect(text({ it: '' }, 'it')).toBe('')
})

test.each([undefined, null, true, {}, ['a'], 'a\0b'])('%j is no text', value => {
  failing(() => text({ it: value }, 'it'))
})

test('a number may be written as a text, and must be within its bounds', () => {
  expect(whole({ it: 5 }, 'it', 1, 0, 9)).toBe(5)
  expect(whole({ it: '5' }, 'it', 1, 0, 9)).toBe(5)
  expect(whole({}, 'it', 1, 0, 9)).toBe(1)
  for (const it of [-1, 10, 1.5, 'five', Number.NaN, Number.POSITIVE_INFINITY, '5; drop'])
    failing(() => whole({ it }, 'it', 1, 0, 9))
})

test('a flag is true or false, also as a text, and false if it is absent', () => {
  expect([{}, { it: false }, { it: 'false' }].map(raw => flag(raw, 'it'))).toEqual([false, false, false])
  expect([{ it: true }, { it: 'true' }].map(raw => flag(raw, 'it'))).toEqual([true, true])
  for (const it of [1, 'yes', {}, []]) failing(() => flag({ it }, 'it'))
})

test('a choice is the first one if it is absent', () => {
  expect(oneOf({}, 'it', ['a', 'b'])).toBe('a')
  expect(oneOf({ it: 'b' }, 'it', ['a', 'b'])).toBe('b')
  failing(() => oneOf({ it: 'c' }, 'it', ['a', 'b']))
})

test('an optional setting may be absent, null or empty, but not wrong', () => {
  for (const raw of [{}, { it: null }, { it: '' }] as RawSettings[]) expect(optional(raw, 'it', text)).toBeUndefined()
  expect(optional({ it: 'a' }, 'it', text)).toBe('a')
  failing(() => optional({ it: {} }, 'it', text))
})

test('an address is http or https, without a slash at its end', () => {
  expect(address({ it: 'https://provider.example' }, 'it')).toBe('https://provider.example')
  expect(address({ it: 'HTTP://Provider.example:8080/messages//' }, 'it')).toBe('http://provider.example:8080/messages')
  expect(address({ it: 'https://provider.example/?key=1' }, 'it')).toBe('https://provider.example/?key=1')
  expect(address({}, 'it', 'https://otherwise.example')).toBe('https://otherwise.example')
})

test.each(['', 'provider.example', 'ftp://provider.example', 'file:///etc/passwd', 'https://', 'javascript:alert(1)'])(
  '%j is no address',
  it => failing(() => address({ it }, 'it')),
)

test('an address contains no password, and no error contains the value', () => {
  failing(() => address({ it: 'https://user:hunter2@provider.example' }, 'it'))
  const wrong: (() => unknown)[] = [
    () => address({ it: 'https://user:hunter2@provider.example' }, 'it'),
    () => address({ it: 'hunter2' }, 'it'),
    () => whole({ it: 'hunter2' }, 'it', 1, 0, 9),
    () => flag({ it: 'hunter2' }, 'it'),
    () => oneOf({ it: 'hunter2' }, 'it', ['a']),
    () => text({ it: 'hunter2\0' }, 'it'),
  ]
  for (const read of wrong) {
    let message = ''
    try {
      read()
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain('setting "it"')
    expect(message).not.toContain('hunter2')
  }
})
