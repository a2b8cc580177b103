import { plainWords } from '../../base/content/plain-words.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { objectIn } from '../http-call.ts'

/** The errors of the protocol. Any other error is the provider's own. */
const known: Record<string, number> = {
  bad_number: errorCodes.badNumber,
  no_route: errorCodes.noRoute,
  blocked: errorCodes.blacklisted,
  bad_sender: errorCodes.noSender,
  bad_text: errorCodes.badText,
  content: errorCodes.refusedByChannel,
}

export const refusalCodeOf = (code: string | undefined) =>
  code === 'expired' ? errorCodes.expired : (codeOf(code) ?? errorCodes.refusedByChannel)

export const failureCodeOf = (code: string | undefined) =>
  code === 'expired' ? errorCodes.lifetimeOver : (codeOf(code) ?? errorCodes.undelivered)

const codeOf = (code: string | undefined) => (code && Object.hasOwn(known, code) ? known[code] : undefined)

const MOST_CODE_CHARS = 100
const MOST_MESSAGE_CHARS = 300

/** The `error` of an answer or an event, if it can be read. */
export function readError(error: unknown): { code?: string; message?: string } {
  const { code, message } = objectIn(error)
  return {
    ...(isWord(code) ? { code: plainWords(String(code), MOST_CODE_CHARS) } : {}),
    ...(isWord(message) ? { message: plainWords(String(message), MOST_MESSAGE_CHARS) } : {}),
  }
}

const isWord = (value: unknown) => (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'
