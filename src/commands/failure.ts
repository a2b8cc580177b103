import { isDatabaseAway, isDatabaseBusy } from '../base/database-losses.ts'
import { AppError, UsageError } from '../base/errors.ts'
import { printable } from '../base/printable.ts'
import { rowFieldsOf } from '../base/refused-rows.ts'

/** Runs a command. A failure that is not our bug becomes one sentence on stderr, and the exit code 1. */
export async function reportFailures(command: () => Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    const sentence = sentenceOf(error)
    if (sentence === undefined) throw withoutRow(error)
    reportFailure(sentence)
  }
}

/** Node.js prints all fields of an error that ends the process. */
function withoutRow(error: unknown): unknown {
  if (error instanceof Error) for (const name of rowFieldsOf(error)) Reflect.deleteProperty(error, name)
  return error
}

export function reportFailure(sentence: string): void {
  const overProgress = process.stderr.isTTY ? '\r\x1b[K' : ''
  process.stderr.write(`${overProgress}tidings: ${printable(sentence)}\n`)
  process.exitCode = 1
}

/**
 * What went wrong, in one sentence, when it is not our bug: a mistake of the caller, or a database that is away, full
 * or does not let us in. Nothing for anything else, which is to be seen with its stack.
 */
export function sentenceOf(error: unknown): string | undefined {
  if (error instanceof UsageError || error instanceof AppError) return withFullStop(error.message)
  const { code = '', message } = error as { code?: string; message: string }
  if (['ENOSPC', 'EDQUOT', '53100'].includes(code)) return `The disk is full: ${message}. Make room and try again.`
  if (REFUSED.test(code)) return `The database refuses: ${message}.`
  if (isDatabaseBusy(error)) return `The database is busy with something else: try again. (${message || code})`
  if (isDatabaseAway(error)) return `The database does not answer: ${message || code}.`
}

/** A message of several lines ends with lines of a log, which stay as they are. */
const withFullStop = (message: string) => (/[.?!)]$|\n/.test(message) ? message : `${message}.`)

/** No entry, no rights, no room, or a server that takes no changes. */
const REFUSED = /^(28\w{3}|42501|3D000|53\w{3}|25006)$/
