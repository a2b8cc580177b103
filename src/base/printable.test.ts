import { pino } from 'pino'
import { expect, test } from 'vitest'
import { printable, printableJsonLine } from './printable.ts'

test.each([
  ['an escape sequence', '\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
  ['a second line', 'name\r\nadmin logged in', 'name\\r\\nadmin logged in'],
  ['a tab', 'a\tb', 'a\\tb'],
  ['an eight-bit escape', '\u009b31m', '\\u009b31m'],
  ['DEL', '\u007f', '\\u007f'],
  ['a reversed direction', 'invoice\u202efdp.exe', 'invoice\\u202efdp.exe'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ['half of a pair', '\ud83dx', '\\ud83dx'],
])('%s is written out', (_, text, shown) => {
  expect(printable(text)).toBe(shown)
})

test.each(['Иван Петров', 'naïve café', '👍🏽 北京', 'a\\nb', '"quoted"', ''])('%s stays as it is', text => {
  expect(printable(text)).toBe(text)
})

test('a log line has no raw control character and stays the same JSON', () => {
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: line => void lines.push(printableJsonLine(line)) })
  const name = 'a\u001b[31m\u009b2J\u007f\n\u202eИван 👍'
  log.info({ name }, 'sender.created')
  expect(lines).toHaveLength(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
  expect(lines[0]!.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(lines[0]!)).toMatchObject({ name, msg: 'sender.created' })
})
