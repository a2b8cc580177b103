import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Call } from '../command.ts'
import { newPasswordIn } from './credentials.ts'

const callWith = (options: Record<string, string>) => ({ options }) as unknown as Call

/** Each line is typed when the question before it has been asked. */
function aTerminal(lines: string[], isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = Object.assign(new PassThrough(), { isTTY })
  const questions: string[] = []
  output.on('data', piece => {
    const text = String(piece)
    if (!text.endsWith(': ')) return
    questions.push(text)
    const next = lines.shift()
    if (next !== undefined) input.write(`${next}\r`)
  })
  return { input, output, questions }
}

describe('a new password', () => {
  test('is asked for twice on the terminal', async () => {
    const terminal = aTerminal(['correct horse', 'correct horse'])
    expect(await newPasswordIn(callWith({}), 'anna', terminal)).toBe('correct horse')
    expect(terminal.questions).toEqual(['New password of anna: ', 'The same again: '])
  })

  test.each<[string, string[], RegExp]>([
    ['two that differ', ['correct horse', 'correct house'], /The two passwords differ/],
    ['a short password', ['horse'], /The password must be 10 to 1024 characters long/],
  ])('is refused: %s', async (_, lines, sentence) => {
    await expect(newPasswordIn(callWith({}), 'anna', aTerminal(lines))).rejects.toThrow(sentence)
  })

  test('comes from standard input with -, without the line end', async () => {
    const terminal = aTerminal([], false)
    terminal.input.end('correct horse\r\n')
    expect(await newPasswordIn(callWith({ 'password-file': '-' }), 'anna', terminal)).toBe('correct horse')
  })

  test('of several lines is refused: most likely it is another file', async () => {
    const terminal = aTerminal([], false)
    terminal.input.end('correct horse\nbattery staple\n')
    await expect(newPasswordIn(callWith({ 'password-file': '-' }), 'anna', terminal)).rejects.toThrow(
      'must not contain control characters',
    )
  })
})
