import { isDatabaseAway, isDatabaseBusy } from '../base/database-losses.ts'
import { AppError, UsageError } from '../base/errors.ts'

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
