import { createInterface } from 'node:readline'
import { StringDecoder } from 'node:string_decoder'
import { UsageError } from '../base/errors.ts'

/** Questions and answers on a terminal. Questions go to stderr, so that stdout has only results. */
export type Terminal = {
  input: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(mode: boolean): unknown }
  output: NodeJS.WritableStream & { isTTY?: boolean }
}

export const ownTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr })

export const isTerminal = ({ input, output }: Terminal = ownTerminal()): boolean =>
  input.isTTY === true && output.isTTY === true

/** Asks for yes or no. Everything but a clear yes is a no, also the end of the input. */
export async function confirm(question: string, { input, output }: Terminal = ownTerminal()): Promise<boolean> {
  output.write(`${question} [y/N] `)
  // Without `terminal` the keyboard stays as it is, and Ctrl-C remains a signal.
  const lines = createInterface({ input, terminal: false })
  try {
    const answer = await new Promise<string>(resolve => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(''))
    })
    return /^(y|yes|д|да)$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
const ends = ['\r', '\n', CTRL_D]
const erasers = ['\b', '\u007f']

/** Asks for a secret: the typed characters are not shown. */
export async function askSecret(question: string, terminal: Terminal = ownTerminal()): Promise<string> {
  const { input, output } = terminal
  output.write(`${question}: `)
  input.setRawMode?.(true)
  try {
    return await readHidden(input)
  } finally {
    input.setRawMode?.(false)
    input.pause()
    output.write('\n')
  }
}

function readHidden(input: Terminal['input']): Promise<string> {
  const decoder = new StringDecoder('utf8')
  let typed: string[] = []
  return new Promise((resolve, reject) => {
    const leave = (end: () => void) => {
      input.off('data', take)
      input.off('end', cancel)
      end()
    }
    // Pasted text may answer the next question too: what follows the line stays for it.
    const finish = (rest: string[]) => {
      input.pause()
      if (rest.length > 0) input.unshift(rest.join(''))
      return typed.join('')
    }
    const cancel = () => leave(() => reject(new UsageError('No password was given.')))
    const take = (piece: Buffer | string) => {
      const chars = [...(typeof piece === 'string' ? piece : decoder.write(piece))]
      for (const [place, char] of chars.entries()) {
        if (char === CTRL_C) return cancel()
        if (ends.includes(char)) return leave(() => resolve(finish(chars.slice(place + 1))))
        if (char === CTRL_U) typed = []
        else if (erasers.includes(char)) typed.pop()
        else typed.push(char)
      }
    }
    input.on('data', take)
    input.once('end', cancel)
    input.resume()
  })
}
