import { open } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from '../../base/errors.ts'
import { refusalOfLogin, refusalOfPassword } from '../../domain/partners/partner.ts'
import type { Call } from '../command.ts'
import { askSecret, isTerminal, ownTerminal, type Terminal } from '../terminal.ts'

/** A login that is about to be made. */
export function newLoginIn({ options }: Call): string {
  const refusal = refusalOfLogin(options.login!)
  if (refusal) throw new UsageError(`--login ${refusal}.`)
  return options.login!
}

/**
 * A new password: from the file that --password-file names, from standard input with `-`, else asked for on the
 * terminal, twice. It is never a word of the command line, which others on the machine can read.
 */
export async function newPasswordIn({ options }: Call, login: string, terminal = ownTerminal()): Promise<string> {
  const path = options['password-file']
  const password = path === undefined ? await askTwice(login, terminal) : await readPassword(path, terminal)
  const refusal = refusalOfPassword(password)
  if (refusal) throw new UsageError(`The password ${refusal}.`)
  return password
}

async function askTwice(login: string, terminal: Terminal): Promise<string> {
  if (!isTerminal(terminal)) {
    throw new UsageError(
      'There is no terminal to ask for the password: --password-file FILE reads it from a file, or - from standard input.',
    )
  }
  const password = await askSecret(`New password of ${login}`, terminal)
  const refusal = refusalOfPassword(password)
  if (refusal) throw new UsageError(`The password ${refusal}.`)
  if ((await askSecret('The same again', terminal)) !== password) throw new UsageError('The two passwords differ.')
  return password
}

const MOST_BYTES = 10_000

/** The first line of a file; a line end at its end does not belong to the password. */
async function readPassword(path: string, { input }: Terminal): Promise<string> {
  const content = path === '-' ? await text(input) : await contentOf(path)
  return content.replace(/\r?\n$/, '')
}

async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === 'ENOENT' ? `There is no file "${path}".` : `The password file "${path}" cannot be read: ${code}.`,
    )
  }
}
