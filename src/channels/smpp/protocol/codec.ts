import { octetAt } from './octets.ts'
import {
  type Command,
  commands,
  type Draft,
  type Kind,
  type Layout,
  type Malformed,
  type Pdu,
  type TlvName,
  type Tlvs,
  tlvs,
} from './pdu.ts'
import { status } from './status.ts'

/** command_length, command_id, command_status, sequence_number. */
export const HEADER_BYTES = 16
const TLV_HEADER_BYTES = 4
const RESPONSE_BIT = 0x80000000

/**
 * The tables in a form for the fast loops below, which run for every message. A kind is a small number; for the integer
 * kinds it is their width in octets.
 */
type Plan = { command: Command; id: number; isResponse: boolean; fields: { name: string; kind: number }[] }
type TlvPlan = { name: TlvName; tag: number; kind: number }

const KINDS: Record<Kind, number> = { int8: 1, int16: 2, int32: 4, text: 5, bytes: 6 }
const TEXT = KINDS.text
const BYTES = KINDS.bytes

const namesOf = <N extends string>(table: Record<N, unknown>) => Object.keys(table) as N[]

const plans = namesOf(commands).map((command): Plan => {
  const { id, fields }: { id: number; fields: Layout } = commands[command]
  return {
    command,
    id,
    isResponse: id >= RESPONSE_BIT,
    fields: fields.map(([name, kind]) => ({ name, kind: KINDS[kind] })),
  }
})
const planOf = new Map(plans.map(plan => [plan.command, plan]))
const planById = new Map(plans.map(plan => [plan.id, plan]))

const tlvPlans = namesOf(tlvs).map((name): TlvPlan => {
  const [tag, kind] = tlvs[name]
  return { name, tag, kind: KINDS[kind] }
})
const tlvByName = new Map<string, TlvPlan>(tlvPlans.map(plan => [plan.name, plan]))
const tlvByTag = new Map(tlvPlans.map(plan => [plan.tag, plan]))

const NO_TLVS: Tlvs = Object.freeze({})
const NO_BYTES = Buffer.alloc(0)

/** Fields by their names in the tables. The types `Pdu` and `Draft` come from the same tables. */
type Fields = Record<string, unknown>

export const isResponse = (id: number): boolean => id >= RESPONSE_BIT

/**
 * Writes a PDU. An answer with an error has no body, as the specification asks. Throws a RangeError if a value cannot be
 * encoded: a text with a NUL or a character beyond Latin-1, or a value that is too long.
 */
export function encode(draft: Draft): Buffer {
  const plan = planOf.get(draft.command)
  if (!plan) throw new RangeError(`an unknown command ${draft.command}`)
  const hasBody = !draft.status || !plan.isResponse
  const size = HEADER_BYTES + (hasBody ? sizeOfFields(plan, draft) + (draft.tlvs ? sizeOfTlvs(draft.tlvs) : 0) : 0)
  const buffer = Buffer.allocUnsafe(size)
  writeInt32(buffer, 0, size)
  writeInt32(buffer, 4, plan.id)
  writeInt32(buffer, 8, draft.status ?? 0)
  writeInt32(buffer, 12, draft.sequence)
  if (!hasBody) return buffer
  const end = writeFields(buffer, HEADER_BYTES, plan, draft)
  if (draft.tlvs) writeTlvs(buffer, end, draft.tlvs)
  return buffer
}

function sizeOfFields({ fields }: Plan, given: Fields): number {
  let size = 0
  for (const { name, kind } of fields) size += kind < TEXT ? kind : 1 + lengthOf(given[name])
  return size
}

const lengthOf = (value: unknown): number => (typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 0)

function sizeOfTlvs(given: Tlvs): number {
  const values: Fields = given
  let size = 0
  for (const name in values) {
    const plan = tlvByName.get(name)
    const value = values[name]
    if (plan && value !== undefined) size += TLV_HEADER_BYTES + sizeOfTlv(plan, value)
  }
  for (const { value } of given.others ?? []) size += TLV_HEADER_BYTES + value.length
  return size
}

function sizeOfTlv({ kind }: TlvPlan, value: unknown): number {
  if (kind < TEXT) return kind
  return lengthOf(value) + (kind === TEXT ? 1 : 0)
}

function writeFields(buffer: Buffer, start: number, { fields }: Plan, given: Fields): number {
  let at = start
  for (const { name, kind } of fields) {
    const value = given[name]
    if (kind === TEXT) at = writeText(buffer, at, textIn(value))
    else if (kind === BYTES) at = writeBytes(buffer, at, bytesIn(value))
    else buffer[at++] = numberIn(value)
  }
  return at
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : '')
const bytesIn = (value: unknown) => (Buffer.isBuffer(value) ? value : NO_BYTES)
const numberIn = (value: unknown) => (typeof value === 'number' ? value : 0)

function writeTlvs(buffer: Buffer, start: number, given: Tlvs) {
  const values: Fields = given
  let at = start
  for (const name in values) {
    const plan = tlvByName.get(name)
    const value = values[name]
    if (plan && value !== undefined) at = writeTlv(buffer, at, plan, value)
  }
  for (const { tag, value } of given.others ?? []) {
    at = writeTlvHeader(buffer, at, tag, value.length)
    at += value.copy(buffer, at)
  }
}

function writeTlv(buffer: Buffer, start: number, plan: TlvPlan, value: unknown): number {
  const at = writeTlvHeader(buffer, start, plan.tag, sizeOfTlv(plan, value))
  if (plan.kind === TEXT) return writeText(buffer, at, textIn(value))
  if (plan.kind === BYTES) return at + bytesIn(value).copy(buffer, at)
  return buffer.writeUIntBE(numberIn(value), at, plan.kind)
}

function writeTlvHeader(buffer: Buffer, at: number, tag: number, length: number): number {
  if (length > 0xffff) throw new RangeError(`optional parameter 0x${tag.toString(16)} of ${length} octets`)
  buffer[at] = tag >>> 8
  buffer[at + 1] = tag
  buffer[at + 2] = length >>> 8
  buffer[at + 3] = length
  return at + TLV_HEADER_BYTES
}

/** A loop, because texts have about a dozen characters and a call of native code would cost more. */
function writeText(buffer: Buffer, start: number, text: string): number {
  let at = start
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0 || unit > 0xff) throw new RangeError(`a text with the character ${unit}`)
    buffer[at++] = unit
  }
  return writeEnd(buffer, at)
}

function writeEnd(buffer: Buffer, at: number): number {
  buffer[at] = 0
  return at + 1
}

function writeBytes(buffer: Buffer, at: number, bytes: Buffer): number {
  if (bytes.length > 0xff) throw new RangeError(`a field of ${bytes.length} octets`)
  buffer[at] = bytes.length
  buffer.set(bytes, at + 1)
  return at + 1 + bytes.length
}

function writeInt32(buffer: Buffer, at: number, value: number) {
  buffer[at] = value >>> 24
  buffer[at + 1] = value >>> 16
  buffer[at + 2] = value >>> 8
  buffer[at + 3] = value
}

export const readInt32 = (buffer: Buffer, at: number): number =>
  octetAt(buffer, at) * 0x1000000 +
  ((octetAt(buffer, at + 1) << 16) | (octetAt(buffer, at + 2) << 8) | octetAt(buffer, at + 3))

/**
 * Reads the PDU from `start` to `end`, with its header. It never throws: an unreadable PDU is returned as `malformed`.
 * Octet strings are views of the buffer, not copies. The limits of the specification for texts are not checked, because
 * operators exceed them; the length of the PDU bounds the texts.
 */
export function decode(buffer: Buffer, start: number, end: number): Pdu | Malformed {
  const id = readInt32(buffer, start + 4)
  const sequence = readInt32(buffer, start + 12)
  const plan = planById.get(id)
  if (!plan) return malformed(id, sequence, status.ESME_RINVCMDID, `unknown command 0x${id.toString(16)}`)
  const pdu: Fields = { command: plan.command, status: readInt32(buffer, start + 8), sequence, tlvs: NO_TLVS }
  const at = readFields(buffer, start + HEADER_BYTES, end, plan, pdu)
  if (at < 0) return malformed(id, sequence, status.ESME_RINVCMDLEN, `${plan.command} ends in the middle of a field`)
  const read = at === end ? NO_TLVS : readTlvs(buffer, at, end)
  if (typeof read === 'string') return malformed(id, sequence, status.ESME_RINVOPTPARSTREAM, `${plan.command}: ${read}`)
  pdu.tlvs = read
  return pdu as Pdu
}

const malformed = (id: number, sequence: number, code: number, reason: string): Malformed => ({
  command: 'malformed',
  id,
  status: code,
  sequence,
  reason,
})

/** Returns the end of the fields, or -1 if the PDU ends before them. An answer may have no body. */
function readFields(buffer: Buffer, start: number, end: number, plan: Plan, into: Fields): number {
  if (start === end && plan.isResponse) return leaveEmpty(plan, into, end)
  let at = start
  for (const { name, kind } of plan.fields) {
    if (at >= end) return -1
    if (kind === TEXT) {
      const stop = endOfText(buffer, at, end)
      if (stop < 0) return -1
      into[name] = stop === at ? '' : buffer.toString('latin1', at, stop)
      at = stop + 1
    } else if (kind === BYTES) {
      const stop = at + 1 + octetAt(buffer, at)
      if (stop > end) return -1
      into[name] = buffer.subarray(at + 1, stop)
      at = stop
    } else into[name] = buffer[at++]
  }
  return at
}

function leaveEmpty({ fields }: Plan, into: Fields, end: number): number {
  for (const { name, kind } of fields) into[name] = kind === TEXT ? '' : kind === BYTES ? NO_BYTES : 0
  return end
}

function endOfText(buffer: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && buffer[at] !== 0) at++
  return at < end ? at : -1
}

function readTlvs(buffer: Buffer, start: number, end: number): Tlvs | string {
  const read: Tlvs = {}
  for (let at = start; at < end; ) {
    if (at + TLV_HEADER_BYTES > end) return 'octets left over at the end'
    const tag = (octetAt(buffer, at) << 8) | octetAt(buffer, at + 1)
    const from = at + TLV_HEADER_BYTES
    at = from + ((octetAt(buffer, at + 2) << 8) | octetAt(buffer, at + 3))
    if (at > end) return `optional parameter 0x${tag.toString(16)} is longer than the rest`
    const plan = tlvByTag.get(tag)
    if (!plan || plan.name in read) keepRaw(read, tag, buffer.subarray(from, at))
    else if (!readTlv(buffer, from, at, plan, read)) return `optional parameter 0x${tag.toString(16)} is no number`
  }
  return read
}

function keepRaw(read: Tlvs, tag: number, value: Buffer) {
  read.others ??= []
  read.others.push({ tag, value })
}

/** Accepts numbers of any width up to four octets, and texts with or without a NUL: operators send both. */
function readTlv(buffer: Buffer, from: number, end: number, { name, kind }: TlvPlan, into: Fields): boolean {
  if (kind === BYTES) into[name] = buffer.subarray(from, end)
  else if (kind === TEXT) {
    const stop = endOfText(buffer, from, end)
    into[name] = buffer.toString('latin1', from, stop < 0 ? end : stop)
  } else {
    if (from === end || end - from > 4) return false
    into[name] = buffer.readUIntBE(from, end - from)
  }
  return true
}
