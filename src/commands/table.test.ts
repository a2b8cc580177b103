import { expect, test, vi } from 'vitest'
import { runCommandLine } from './command-line.ts'
import { table } from './table.ts'

test('columns are aligned, and control characters are written out', () => {
  expect(
    table(
      ['ID', 'NAME', 'X'],
      [
        [1, 'Ромашка', null],
        [22, 'a\u001b[2J\nb', 'c'],
      ],
    ),
  ).toBe(['ID  NAME           X', '1   Ромашка        -', '22  a\\u001b[2J\\nb  c'].join('\n'))
})

test('no stored text reaches the terminal raw, in words or as JSON', async () => {
  const name = 'a\u001b]0;x\u0007\u009b\u202eb'
  const command = {
    name: 'show',
    about: 'Shows.',
    run: async (call: { print(value: unknown, text: string): void }) =>
      call.print({ name }, `Name: ${name}\nsecond line`),
  }
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  await runCommandLine([command], ['show'], () => ({}))
  await runCommandLine([command], ['show', '--json'], () => ({}))
  const [words, json] = write.mock.calls.map(([text]) => String(text))
  write.mockRestore()
  expect(words).toBe('Name: a\\u001b]0;x\\u0007\\u009b\\u202eb\nsecond line\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
  expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(json!)).toEqual({ name })
})
