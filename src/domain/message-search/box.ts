import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { uuidsAmong } from './search.ts'

/** What somebody typed into the one box of the search. */
export type Box =
  | { kind: 'nothing' }
  | { kind: 'uuid'; uuid: string }
  | { kind: 'number'; number: string }
  /** The beginning of a number, country code first, long enough for an index. */
  | { kind: 'beginning'; digits: string }
  /** Digits of a number or of a text, and perhaps an id of the client's own. */
  | { kind: 'digits'; digits: string; typed: string }
  /** Words of the text, all of which it contains; `id` where they may be an id of the client's own. */
  | { kind: 'words'; words: string[]; id: string | undefined }

const NUMBER_LIKE = /^\+?[\d\s()\-–.]+$/
const FULL_LENGTH = 11
/** A shorter beginning has more than a thousand numbers, and perhaps millions of messages. */
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

/** Russian numbers are known by their length; a foreign one needs its plus. */
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

/** `"exact words"` are one; outside of quotes each word counts alone. */
function wordsBox(text: string): Box {
  const quoted = /["“”«»]([^"“”«»]+)["“”«»]|(\S+)/g
  const words = [...text.matchAll(quoted)].map(([, exact, word]) => (exact ?? word)!.trim()).filter(word => word !== '')
  return { kind: 'words', words, id: /[\s"“”«»]/.test(text) ? undefined : text }
}
