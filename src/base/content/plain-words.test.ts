import { expect, test } from 'vitest'
import { isPlain, plainId, plainWords, readId } from './plain-words.ts'

test.each([
  ['Bad Request', 'Bad Request'],
  [' Bad\r\nRequest:\u001b[2J\0 ', 'Bad Request: [2J'],
  ['нет\u0085связи', 'нет связи'],
  ['half \ud83d', 'half �'],
  ['', ''],
])('the words %j are %j', (text, expected) => {
  expect(plainWords(text)).toBe(expected)
})

test('words are cut to the length that can be stored, and never inside a character', () => {
  expect(plainWords('7'.repeat(220))).toBe('7'.repeat(200))
  expect(plainWords('abcdef', 3)).toBe('abc')
  expect(plainWords(`${'a'.repeat(199)}😀`)).toBe(`${'a'.repeat(199)}�`)
})

test.each([
  ['12\u00003\n', '123'],
  ['a b', 'a b'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), undefined],
  ['\0', undefined],
  ['', undefined],
  [undefined, undefined],
])('the id %j is kept as %j', (id, expected) => {
  expect(plainId(id)).toBe(expected)
})

test('plain words can be stored unchanged', () => {
  for (const plain of ['', null, undefined, 'ESME_RINVDSTADR', 'нет', 'x'.repeat(200)])
    expect(isPlain(plain)).toBe(true)
  for (const other of ['a\0b', 'a\nb', '\ud83d', 'x'.repeat(201)]) expect(isPlain(other)).toBe(false)
})

test('the result is always plain', () => {
  for (const text of ['\0', 'a\tb\ud83d', '\u009f', `${'😀'.repeat(150)}`, '\u0000'.repeat(500)]) {
    expect(isPlain(plainWords(text))).toBe(true)
    expect(isPlain(plainId(text))).toBe(true)
  }
})

test('an id in JSON is visible ASCII or a whole number', () => {
  expect([readId('wamid.A=='), readId(17), readId('x'.repeat(200))]).toEqual(['wamid.A==', '17', 'x'.repeat(200)])
  for (const none of ['', 'a b', 'a\n', 'ё', 'x'.repeat(201), 1.5, 2 ** 60, null, {}, undefined])
    expect(readId(none)).toBeUndefined()
})
