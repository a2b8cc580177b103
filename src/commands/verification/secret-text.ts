import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from '../../base/errors.ts'

const MOST_CHARACTERS = 1000

/**
 * A secret that an option gives: as it stands, from a file with `@FILE`, or from standard input with `-`. A secret that
 * begins with @ is written with two. No error repeats it.
 */
export async function secretText(given: string, option: string, input: NodeJS.ReadableStream = process.stdin) {
  const secret = (await contentOf(given, option, input)).replace(/\r?\n$/, '')
  if (secret.trim() === '' || secret.length > MOST_CHARACTERS || /[\r\n]/.test(secret))
    throw new UsageError(`--${option} must be one line of 1 to ${MOST_CHARACTERS} characters.`)
  return secret
}

async function contentOf(given: string, option: string, input: NodeJS.ReadableStream): Promise<string> {
  if (given === '-') return text(input)
  if (!given.startsWith('@')) return given
  return given.startsWith('@@') ? given.slice(1) : fileText(given.slice(1), option)
}

function fileText(path: string, option: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `The file for --${option} cannot be read (${error.code}); a secret that begins with @ is written with two.`,
    )
  })
}
