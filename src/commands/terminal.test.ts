import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { askSecret, confirm, isTerminal } from './terminal.ts'

/** A terminal on which somebody types. */
function aTerminal(...typed: (string | Buffer)[]) {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (mode: boolean) => modes.push(mode) })
  const output = Object.assign(new PassThrough(), { isTTY: true })
  for (const piece of typed) input.write(piece)
  input.end()
  return { input, output, modes, shown: () => text(output.end()) }
}

test.each([
  ['y\n', true],
  ['YES\r\n', true],
  ['да\n', true],
  ['n\n', false],
  ['\n', false],
  ['yesterday\n', false],
  ['', false],
])('only a clear yes is one: %j', async (typed, answer) => {
  const terminal = aTerminal(typed)
  expect(await confirm('Send?', terminal)).toBe(answer)
  expect(await terminal.shown()).toBe('Send? [y/N] ')
})

test('a secret is read without showing it, with corrections', async () => {
  const letters = Buffer.from('пар')
  const terminal = aTerminal('wrong\u0015', letters.subarray(0, 3), letters.subarray(3), 'x\u007fоль🔑\r', 'more')
  expect(await askSecret('Password', terminal)).toBe('пароль🔑')
  expect(await terminal.shown()).toBe('Password: \n')
  expect(terminal.modes).toEqual([true, false])
})

test('text that is pasted after the first secret answers the second question', async () => {
  const terminal = aTerminal('one\rtwo\r')
  expect(await askSecret('Password', terminal)).toBe('one')
  expect(await askSecret('The same again', terminal)).toBe('two')
})

test.each(['abc\u0003', 'abc'])('Ctrl-C and the end of the input give no secret: %j', async typed => {
  const terminal = aTerminal(typed)
  await expect(askSecret('Password', terminal)).rejects.toThrow('No password was given.')
  expect(terminal.modes).toEqual([true, false])
})

test('a terminal is one on both sides', () => {
  const { input, output } = aTerminal()
  expect(isTerminal({ input, output })).toBe(true)
  expect(isTerminal({ input, output: Object.assign(new PassThrough(), { isTTY: false }) })).toBe(false)
})
