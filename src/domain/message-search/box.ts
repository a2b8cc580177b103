import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { uuidsAmong } from './search.ts'

/** The meaning of the text in the search box. */
export type Box =
  | { kind: 'nothing' }
  | { kind: 'uuid'; uuid: string }
  | { kind: 'number'; number: string }
  /** The beginning of a number with its country code, long enough for a search by index. */
  | { kind: 'beginning'; digits: string }
  /** Digits of a number or of a message text. They may also be an external id. */
  | { kind: 'digits'; digits: string; typed: string }
  /** The message text contains all these words. `id` is set if the text may be an external id. */
  | { kind: 'words'; words: string[]; id: string | undefined }

const NUMBER_LIKE = /^\+?[\d\s()\-–.]+$/
const FULL_LENGTH = 11
/** A shorter beginning matches more than a thousand numbers, and perhaps millions of messages. */
const LEAST_BEGINNING = 8
const LEAST_DIGITS = 3

export function readBox(typed: string): Box {
  const text = typed.trim()
  if (text === '') return { kind: 'nothing' }
  const [uuid] = uuidsAmong([text])
  if (uuid) return { kind: 'uuid', uuid }
  const digits = text.replaceAll(/\D/g, '')
  return NUMBER_LIKE.test(text) && digits.length >= LEAST_DIGITS ? digitsBox(text, digits) : wordsBox(text)
}

/** A Russian number is recognised by its length. A foreign number must begin with a plus. */
function digitsBox(typed: string, digits: string): Box {
  const hasPlus = typed.startsWith('+')
  const number = normaliseNumber(typed.replaceAll('.', ''))
  if (number?.length === FULL_LENGTH && /^7/.test(number)) return { kind: 'number', number }
  const beginning = !hasPlus && /^8[3489]/.test(digits) ? `7${digits.slice(1)}` : digits
  const isBeginning = hasPlus || /^7[3489]/.test(beginning)
  return isBeginning && beginning.length >= LEAST_BEGINNING && beginning.length <= 15 && !/^9+$/.test(beginning)
    ? { kind: 'beginning', digits: beginning }
    : { kind: 'digits', digits, typed }
}

/** Words in quotes are one phrase. Outside of quotes each word is searched by itself. */
function wordsBox(text: string): Box {
  const quoted = /["“”«»]([^"“”«»]+)["“”«»]|(\S+)/g
  const words = [...text.matchAll(quoted)].map(([, exact, word]) => (exact ?? word)!.trim()).filter(word => word !== '')
  return { kind: 'words', words, id: /[\s"“”«»]/.test(text) ? undefined : text }
}
