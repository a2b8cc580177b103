import { GSM_DEFAULT, GSM_EXTENSION, splitSms } from '../../../base/content/sms-text.ts'
import { octetAt } from './octets.ts'
import { esmClass, type Tlvs } from './pdu.ts'

/** How a long text is sent: in parts with a header, in parts with optional parameters, or as one payload. */
export type LongMessages = 'udh' | 'sar' | 'payload'

export type TextOptions = {
  longMessages: LongMessages
  /** Eight septets in seven octets, as on the air interface. Most operators expect one septet per octet. */
  gsmPacking: boolean
  /** Texts of the GSM alphabet that are also Latin-1 are sent as Latin-1. The parts stay the same. */
  latin1: boolean
}

/** The fields of a submit_sm that carry the text. */
export type TextPart = { esmClass: number; dataCoding: number; shortMessage: Buffer; tlvs?: Tlvs }

export const dataCoding = { default: 0, ia5: 1, latin1: 3, cyrillic: 6, hebrew: 7, ucs2: 8 } as const

type Alphabet = 'gsm7' | 'packed' | 'latin1' | 'ucs2'

const ESCAPE = 0x1b
const CARRIAGE_RETURN = 0x0d
const MOST_PARTS = 255
/** The header that joins parts: its length, the element "concatenation", its length, then reference, parts, part. */
const JOINING_HEADER_BYTES = 6
const NO_BYTES = Buffer.alloc(0)

/**
 * Splits a text into the parts to submit. The split is the same as in `smsParts`, so that the billed and the submitted
 * number of parts are equal. `reference` is the same in all parts of a message. An empty text is one empty part.
 */
export function encodeText(text: string, reference: number, options: TextOptions): TextPart[] {
  const { alphabet: needed, parts } = splitSms(text)
  const alphabet = alphabetOf(text, needed, options)
  const coding = { esmClass: 0, dataCoding: CODINGS[alphabet] }
  if (parts.length <= 1) return [{ ...coding, shortMessage: encodeAs(alphabet, text, 0) }]
  if (options.longMessages === 'payload') {
    return [{ ...coding, shortMessage: NO_BYTES, tlvs: { messagePayload: encodeAs(alphabet, text, 0) } }]
  }
  if (parts.length > MOST_PARTS) throw new RangeError(`a text of ${parts.length} parts`)
  const join = options.longMessages === 'sar' ? joinBySar : joinByHeader
  return parts.map((part, i) => join(coding, alphabet, part, reference, i + 1, parts.length))
}

const CODINGS: Record<Alphabet, number> = {
  gsm7: dataCoding.default,
  packed: dataCoding.default,
  latin1: dataCoding.latin1,
  ucs2: dataCoding.ucs2,
}

function alphabetOf(text: string, needed: 'gsm7' | 'ucs2', { gsmPacking, latin1 }: TextOptions): Alphabet {
  if (needed === 'ucs2') return 'ucs2'
  if (latin1 && isLatin1(text)) return 'latin1'
  return gsmPacking ? 'packed' : 'gsm7'
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}

type Join = (
  coding: { esmClass: number; dataCoding: number },
  alphabet: Alphabet,
  text: string,
  reference: number,
  part: number,
  parts: number,
) => TextPart

const joinByHeader: Join = (coding, alphabet, text, reference, part, parts) => ({
  esmClass: esmClass.udh,
  dataCoding: coding.dataCoding,
  shortMessage: Buffer.concat([
    Buffer.from([JOINING_HEADER_BYTES - 1, 0, 3, reference & 0xff, parts, part]),
    encodeAs(alphabet, text, JOINING_HEADER_BYTES),
  ]),
})

const joinBySar: Join = (coding, alphabet, text, reference, part, parts) => ({
  ...coding,
  shortMessage: encodeAs(alphabet, text, 0),
  tlvs: { sarMsgRefNum: reference & 0xffff, sarTotalSegments: parts, sarSegmentSeqnum: part },
})

function encodeAs(alphabet: Alphabet, text: string, headerBytes: number): Buffer {
  if (alphabet === 'ucs2') return encodeUcs2(text)
  if (alphabet === 'latin1') return Buffer.from(text, 'latin1')
  const septets = encodeSeptets(text)
  return alphabet === 'packed' ? packSeptets(septets, headerBytes) : septets
}

const encodeUcs2 = (text: string) => Buffer.from(text, 'utf16le').swap16()

/** For each UTF-16 unit two octets: the escape or 0, and the septet; 0xffff if the GSM alphabet has no such character. */
const SEPTETS = septetsByUnit()

function septetsByUnit(): Uint16Array {
  const septets = new Uint16Array(0x10000).fill(0xffff)
  for (let septet = 0; septet < GSM_DEFAULT.length; septet++) septets[GSM_DEFAULT.charCodeAt(septet)] = septet
  for (const [char, septet] of Object.entries(GSM_EXTENSION)) septets[char.charCodeAt(0)] = (ESCAPE << 8) | septet
  return septets
}

const QUESTION_MARK = 0x3f

export function encodeSeptets(text: string): Buffer {
  const octets = Buffer.allocUnsafe(text.length * 2)
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const septet = SEPTETS[text.charCodeAt(i)] ?? 0xffff
    if (septet > 0xff && septet !== 0xffff) octets[at++] = ESCAPE
    octets[at++] = septet === 0xffff ? QUESTION_MARK : septet
  }
  return octets.subarray(0, at)
}

/**
 * Packs eight septets into seven octets. After a header the first septet starts at a multiple of seven bits from the
 * beginning of the message. Seven unused bits at the end would be read as "@", so they get a carriage return.
 */
export function packSeptets(septets: Buffer, headerBytes: number): Buffer {
  const fill = fillBits(headerBytes)
  const bits = fill + septets.length * 7
  const packed = Buffer.alloc(Math.ceil(bits / 8))
  for (let i = 0; i < septets.length; i++) putSeptet(packed, fill + i * 7, octetAt(septets, i))
  if (packed.length * 8 - bits === 7) putSeptet(packed, bits, CARRIAGE_RETURN)
  return packed
}

const fillBits = (headerBytes: number) => (7 - ((headerBytes * 8) % 7)) % 7

function putSeptet(packed: Buffer, bit: number, septet: number) {
  const at = bit >> 3
  const shifted = septet << (bit & 7)
  packed[at] = octetAt(packed, at) | (shifted & 0xff)
  if (shifted > 0xff) packed[at + 1] = octetAt(packed, at + 1) | (shifted >> 8)
}

export function unpackSeptets(packed: Buffer, headerBytes: number): Buffer {
  const fill = fillBits(headerBytes)
  const septets = Buffer.allocUnsafe(Math.max(0, Math.floor((packed.length * 8 - fill) / 7)))
  for (let i = 0; i < septets.length; i++) {
    const bit = fill + i * 7
    const pair = octetAt(packed, bit >> 3) | (octetAt(packed, (bit >> 3) + 1) << 8)
    septets[i] = (pair >> (bit & 7)) & 0x7f
  }
  const isPadded = (packed.length * 8 - fill) % 7 === 0 && septets.at(-1) === CARRIAGE_RETURN
  return isPadded ? septets.subarray(0, -1) : septets
}

const EXTENSION_CHARS = new Map(Object.entries(GSM_EXTENSION).map(([char, septet]) => [septet, char]))

/** After an escape, a septet without an extension character has its default character, as 3GPP TS 23.038 asks. */
export function decodeSeptets(septets: Buffer): string {
  let text = ''
  for (let i = 0; i < septets.length; i++) {
    const septet = octetAt(septets, i) & 0x7f
    if (septet !== ESCAPE) text += GSM_DEFAULT[septet]
    else if (i + 1 < septets.length) {
      const next = octetAt(septets, ++i) & 0x7f
      text += EXTENSION_CHARS.get(next) ?? (next === ESCAPE ? ' ' : GSM_DEFAULT[next])
    }
  }
  return text
}

/** An inbound text: a whole message, or a part with the data to join it with the other parts. */
export type InboundText = { text: string; joined?: { reference: string; part: number; parts: number } }

export type Incoming = { esmClass: number; dataCoding: number; shortMessage?: Buffer; tlvs: Tlvs }

/** Reads the text in `short_message` or `message_payload`. It never throws, for any octets. */
export function decodeInbound(incoming: Incoming, options: Pick<TextOptions, 'gsmPacking'>): InboundText {
  const octets = incoming.shortMessage?.length ? incoming.shortMessage : (incoming.tlvs.messagePayload ?? NO_BYTES)
  const header = readHeader(incoming.esmClass, octets)
  const body = octets.subarray(header.bytes)
  const text = decodeText(incoming.dataCoding, body, options.gsmPacking, header.bytes)
  const joined = header.joined ?? joinedBySar(incoming.tlvs)
  return joined ? { text, joined } : { text }
}

export function decodeText(coding: number, octets: Buffer, gsmPacking = false, headerBytes = 0): string {
  switch (alphabetOfCoding(coding)) {
    case dataCoding.ucs2:
      return Buffer.from(octets.subarray(0, octets.length & ~1))
        .swap16()
        .toString('utf16le')
    case dataCoding.ia5:
    case dataCoding.latin1:
      return octets.toString('latin1')
    case dataCoding.cyrillic:
      return cyrillic.decode(octets)
    case dataCoding.hebrew:
      return hebrew.decode(octets)
    case dataCoding.default:
      return decodeSeptets(gsmPacking ? unpackSeptets(octets, headerBytes) : octets)
    default:
      return octets.toString('latin1')
  }
}

const cyrillic = new TextDecoder('iso-8859-5')
const hebrew = new TextDecoder('iso-8859-8')

/** Above 0x0f the octet is a coding scheme of GSM 03.38, which some operators forward unchanged. */
function alphabetOfCoding(coding: number): number {
  if (coding <= 0x0f) return coding
  const alphabet = coding & 0x0c
  if (coding >= 0xf0) return alphabet & 0x04 ? dataCoding.latin1 : dataCoding.default
  return alphabet === 0x08 ? dataCoding.ucs2 : alphabet === 0x04 ? dataCoding.latin1 : dataCoding.default
}

type Joined = NonNullable<InboundText['joined']>

/** Reads the user data header with the data to join parts. A header longer than the message is ignored. */
function readHeader(esm: number, octets: Buffer): { bytes: number; joined?: Joined } {
  const bytes = octetAt(octets, 0) + 1
  if (!(esm & esmClass.udh) || bytes > octets.length) return { bytes: 0 }
  for (let at = 1; at + 2 <= bytes; at += 2 + octetAt(octets, at + 1)) {
    const joined = readElement(octets.subarray(at, bytes))
    if (joined) return { bytes, joined }
  }
  return { bytes }
}

function readElement(element: Buffer): Joined | undefined {
  const [id, length] = element
  if (id === 0x00 && length === 3 && element.length >= 5)
    return joining(`udh8:${element[2]}`, octetAt(element, 4), octetAt(element, 3))
  if (id === 0x08 && length === 4 && element.length >= 6)
    return joining(`udh16:${element.readUInt16BE(2)}`, octetAt(element, 5), octetAt(element, 4))
}

function joinedBySar({ sarMsgRefNum, sarSegmentSeqnum, sarTotalSegments }: Tlvs): Joined | undefined {
  if (sarMsgRefNum === undefined || sarSegmentSeqnum === undefined || sarTotalSegments === undefined) return undefined
  return joining(`sar:${sarMsgRefNum}`, sarSegmentSeqnum, sarTotalSegments)
}

/** "Part 1 of 1" needs no joining, and "part 5 of 3" is impossible. */
const joining = (reference: string, part: number, parts: number): Joined | undefined =>
  parts > 1 && parts <= MOST_PARTS && part >= 1 && part <= parts ? { reference, part, parts } : undefined
