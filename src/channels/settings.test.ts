import Type from 'typebox'
import { expect, test } from 'vitest'
import { address, choice, flag, type RawSettings, text, valuesOf, whole } from './settings.ts'

const read = (raw: RawSettings, type: Parameters<typeof valuesOf>[0]['properties'][string]) =>
  valuesOf(Type.Object({ it: type }), raw).it

const failing = (read: () => unknown) => expect(read).toThrow(/^setting "it" /)

test('a text may be written as a number', () => {
  expect(read({ it: 'abc' }, text())).toBe('abc')
  expect(read({ it: 1234 }, text())).toBe('1234')
  expect(read({}, text('otherwise'))).toBe('otherwise')
  expect(read({ it: '' }, text())).toBe('')
})

test.each([undefined, null, true, {}, ['a'], 'a\0b'])('%j is no text', value => {
  failing(() => read({ it: value }, text()))
})

test('a number may be written as a text, and must be within its bounds', () => {
  expect(read({ it: 5 }, whole(0, 9, 1))).toBe(5)
  expect(read({ it: '5' }, whole(0, 9, 1))).toBe(5)
  expect(read({}, whole(0, 9, 1))).toBe(1)
  for (const it of [-1, 10, 1.5, 'five', Number.NaN, Number.POSITIVE_INFINITY, '5; drop'])
    failing(() => read({ it }, whole(0, 9, 1)))
})

test('a flag is true or false, also as a text, and false if it is absent', () => {
  expect([{}, { it: false }, { it: 'false' }].map(raw => read(raw, flag()))).toEqual([false, false, false])
  expect([{ it: true }, { it: 'true' }].map(raw => read(raw, flag()))).toEqual([true, true])
  for (const it of [1, 'yes', {}, []]) failing(() => read({ it }, flag()))
})

test('a choice is the first one if it is absent', () => {
  expect(read({}, choice('a', 'b'))).toBe('a')
  expect(read({ it: 'b' }, choice('a', 'b'))).toBe('b')
  failing(() => read({ it: 'c' }, choice('a', 'b')))
})

test('an optional setting may be absent, null or empty, but not wrong', () => {
  for (const raw of [{}, { it: null }, { it: '' }] as RawSettings[])
    expect(read(raw, Type.Optional(text()))).toBeUndefined()
  expect(read({ it: 'a' }, Type.Optional(text()))).toBe('a')
  failing(() => read({ it: {} }, Type.Optional(text())))
})

test('an address is http or https, without a slash at its end', () => {
  expect(read({ it: 'https://provider.example' }, address())).toBe('https://provider.example')
  expect(read({ it: 'HTTP://Provider.example:8080/messages//' }, address())).toBe(
    'http://provider.example:8080/messages',
  )
  expect(read({ it: 'https://provider.example/?key=1' }, address())).toBe('https://provider.example/?key=1')
  expect(read({}, address('https://otherwise.example'))).toBe('https://otherwise.example')
})

test.each(['', 'provider.example', 'ftp://provider.example', 'file:///etc/passwd', 'https://', 'javascript:alert(1)'])(
  '%j is no address',
  it => failing(() => read({ it }, address())),
)

test('an address contains no password, and no error contains the value', () => {
  failing(() => read({ it: 'https://user:hunter2@provider.example' }, address()))
  const wrong: (() => unknown)[] = [
    () => read({ it: 'https://user:hunter2@provider.example' }, address()),
    () => read({ it: 'hunter2' }, address()),
    () => read({ it: 'hunter2' }, whole(0, 9, 1)),
    () => read({ it: 'hunter2' }, flag()),
    () => read({ it: 'hunter2' }, choice('a')),
    () => read({ it: 'hunter2\0' }, text()),
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
