/**
 * The alphabet and the parts of a text as SMS.
 *
 * A single SMS carries 140 bytes: 160 septets of the GSM 03.38 alphabet, or 70 units of UCS-2. A longer text is sent in
 * parts. Each part needs 6 bytes for the header that joins the parts: 153 septets or 67 units are left.
 */
export type SmsAlphabet = 'gsm7' | 'ucs2'

const SINGLE_SEPTETS = 160
const PART_SEPTETS = 153
const SINGLE_UNITS = 70
const PART_UNITS = 67

/**
 * The default alphabet: a character's place in this string is its septet, 0x00 to 0x7f, sixteen to a row. Place 0x1b
 * is the escape to the extension table, no character of its own. Place 0x09 is the capital Ç, as 3GPP TS 23.038 draws
 * it; some tables have the small ç there, which a telephone would then show as Ç.
 */
export const GSM_DEFAULT =
  '@£$¥èéùìòÇ\nØø\rÅå' +
  'Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ' +
  ' !"#¤%&\'()*+,-./' +
  '0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNO' +
  'PQRSTUVWXYZÄÖÑÜ§' +
  '¿abcdefghijklmno' +
  'pqrstuvwxyzäöñüà'

/** The extension table: each of these is sent as two septets, the escape and the one given here. */
export const GSM_EXTENSION: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
}

const ESCAPE = '\x1b'

/**
 * Septets by UTF-16 unit; 0 for characters outside the GSM alphabet. It covers every unit, so a lookup needs no check
 * of bounds.
 */
const SEPTETS = septetsByUnit()

function septetsByUnit(): Uint8Array {
  const septets = new Uint8Array(0x10000)
  for (const char of GSM_DEFAULT) if (char !== ESCAPE) septets[char.charCodeAt(0)] = 1
  for (const char of Object.keys(GSM_EXTENSION)) septets[char.charCodeAt(0)] = 2
  return septets
}

/**
 * The number of parts of a text, 0 for an empty text. It runs for every recipient of a dispatch, so it allocates
 * nothing and reads no more of the text than necessary.
 */
export function smsParts(text: string): number {
  const units = text.length
  if (units === 0) return 0
  // One part in either alphabet: 70 units, were they all escape pairs, are 140 septets.
  if (units <= SINGLE_UNITS) return 1

  const septets = septetsOf(text)
  if (septets < 0) return countParts(text, ucs2PartEnd)
  if (septets <= SINGLE_SEPTETS) return 1
  if (septets === units) return Math.ceil(septets / PART_SEPTETS) // no escape pair that could straddle
  return countParts(text, gsmPartEnd)
}

/** No text with more characters fits into `parts` parts (two or more), in either alphabet. */
export const mostSmsCharacters = (parts: number) => parts * PART_SEPTETS

export function smsAlphabet(text: string): SmsAlphabet {
  return septetsOf(text) < 0 ? 'ucs2' : 'gsm7'
}

/** The parts in the order of sending. Joined they are the text. */
export function splitSms(text: string): { alphabet: SmsAlphabet; parts: string[] } {
  const septets = septetsOf(text)
  if (septets < 0) return { alphabet: 'ucs2', parts: split(text, text.length <= SINGLE_UNITS, ucs2PartEnd) }
  return { alphabet: 'gsm7', parts: split(text, septets <= SINGLE_SEPTETS, gsmPartEnd) }
}

/** The length of a text in septets, or -1 as soon as a character is not in the alphabet: in Cyrillic, the first. */
function septetsOf(text: string): number {
  let total = 0
  for (let i = 0; i < text.length; i++) {
    const septets = SEPTETS[text.charCodeAt(i)]!
    if (septets === 0) return -1
    total += septets
  }
  return total
}

/** Where the part that begins at `start` ends, in a text that takes several. */
type PartEnd = (text: string, start: number) => number

function countParts(text: string, partEnd: PartEnd): number {
  let parts = 0
  for (let start = 0; start < text.length; start = partEnd(text, start)) parts++
  return parts
}

function split(text: string, isSingle: boolean, partEnd: PartEnd): string[] {
  if (text === '') return []
  if (isSingle) return [text]

  const parts: string[] = []
  for (let start = 0; start < text.length; ) {
    const end = partEnd(text, start)
    parts.push(text.slice(start, end))
    start = end
  }
  return parts
}

/** Stops before the first character that does not fit: an escape pair is not split between two parts. */
function gsmPartEnd(text: string, start: number): number {
  let end = start
  let room = PART_SEPTETS
  while (end < text.length) {
    room -= SEPTETS[text.charCodeAt(end)]!
    if (room < 0) break
    end++
  }
  return end
}

/** Computes the end without reading the text; it only avoids splitting a surrogate pair. */
function ucs2PartEnd(text: string, start: number): number {
  const end = start + PART_UNITS
  if (end >= text.length) return text.length
  return isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}
