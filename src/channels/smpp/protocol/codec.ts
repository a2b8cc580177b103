import { type Command, commands, type Draft, type Kind, type Malformed, type Pdu, type Tlvs, tlvs } from './pdu.ts'
import { status } from './status.ts'

/** command_length, command_id, command_status, sequence_number. */
export const HEADER_BYTES = 16
const TLV_HEADER_BYTES = 4
const RESPONSE_BIT = 0x80000000

/**
 * The tables in a form for the fast loops below, which run for every message. A kind is a small number; for the integer
 * kinds it is their width in octets.
 */
type Plan = { command: Command; id: number; isResponse: boolean; names: string[]; kinds: number[] }
type TlvPlan = { name: string; tag: number; kind: number }

const KINDS: Record<Kind, number> = { int8: 1, int16: 2, int32: 4, text: 5, bytes: 6 }
const TEXT = KINDS.text
const BYTES = KINDS.bytes

const plans = Object.entries(commands).map(
  ([command, { id, fields }]): Plan => ({
    command: command as Command,
    id,
    isResponse: id >= RESPONSE_BIT,
    names: fields.map(([name]) => name),
    kinds: fields.map(([, kind]) => KINDS[kind]),
  }),
)
const planOf = new Map(plans.map(plan => [plan.command, plan]))
const planById = new Map(plans.map(plan => [plan.id, plan]))

const tlvPlans = Object.entries(tlvs).map(([name, [tag, kind]]): TlvPlan => ({ name, tag, kind: KINDS[kind] }))
const tlvByName = new Map(tlvPlans.map(plan => [plan.name, plan]))
const tlvByTag = new Map(tlvPlans.map(plan => [plan.tag, plan]))

const NO_TLVS: Tlvs = Object.freeze({})
const NO_BYTES = Buffer.alloc(0)

/** Fields by their names in the tables. The types `Pdu` and `Draft` come from the same tables. */
type Bag = Record<string, number | string | Buffer | undefined>

export const isResponse = (id: number): boolean => id >= RESPONSE_BIT

/**
 * Writes a PDU. An answer with an error has no body, as the specification asks. Throws a RangeError if a value cannot be
 * encoded: a text with a NUL or a character beyond Latin-1, or a value that is too long.
 */
export function encode(draft: Draft): Buffer {
  const plan = planOf.get(draft.command)!
  const fields = draft as unknown as Bag
  const hasBody = !draft.status || !plan.isResponse
  const size = HEADER_BYTES + (hasBody ? sizeOfFields(plan, fields) + (draft.tlvs ? sizeOfTlvs(draft.tlvs) : 0) : 0)
  const buffer = Buffer.allocUnsafe(size)
  writeInt32(buffer, 0, size)
  writeInt32(buffer, 4, plan.id)
  writeInt32(buffer, 8, draft.status ?? 0)
  writeInt32(buffer, 12, draft.sequence)
  if (!hasBody) return buffer
  const end = writeFields(buffer, HEADER_BYTES, plan, fields)
  if (draft.tlvs) writeTlvs(buffer, end, draft.tlvs)
  return buffer
}

function sizeOfFields({ names, kinds }: Plan, fields: Bag): number {
  let size = 0
  for (let i = 0; i < kinds.length; i++) {
    const kind = kinds[i]!
    if (kind < TEXT) size += kind
    else size += 1 + ((fields[names[i]!] as string | Buffer | undefined)?.length ?? 0)
  }
  return size
}

function sizeOfTlvs(given: Tlvs): number {
  let size = 0
  for (const name in given) {
    const plan = tlvByName.get(name)
    const value = (given as Bag)[name]
    if (plan && value !== undefined) size += TLV_HEADER_BYTES + sizeOfTlv(plan, value)
  }
  for (const { value } of given.others ?? []) size += TLV_HEADER_BYTES + value.length
  return size
}

function sizeOfTlv({ kind }: TlvPlan, value: number | string | Buffer): number {
  if (kind < TEXT) return kind
  return (value as string | Buffer).length + (kind === TEXT ? 1 : 0)
}

function writeFields(buffer: Buffer, start: number, { names, kinds }: Plan, fields: Bag): number {
  let at = start
  for (let i = 0; i < kinds.length; i++) {
    const kind = kinds[i]!
    const value = fields[names[i]!]
    if (kind === TEXT) at = value ? writeText(buffer, at, value as string) : writeEnd(buffer, at)
    else if (kind === BYTES) at = writeBytes(buffer, at, (value as Buffer | undefined) ?? NO_BYTES)
    else buffer[at++] = (value as number | undefined) ?? 0
  }
  return at
}

function writeTlvs(buffer: Buffer, start: number, given: Tlvs) {
  let at = start
  for (const name in given) {
    const plan = tlvByName.get(name)
    const value = (given as Bag)[name]
    if (plan && value !== undefined) at = writeTlv(buffer, at, plan, value)
  }
  for (const { tag, value } of given.others ?? []) {
    at = writeTlvHeader(buffer, at, tag, value.length)
    at += value.copy(buffer, at)
  }
}

function writeTlv(buffer: Buffer, start: number, plan: TlvPlan, value: number | string | Buffer): number {
  const at = writeTlvHeader(buffer, start, plan.tag, sizeOfTlv(plan, value))
  if (plan.kind === TEXT) return writeText(buffer, at, value as string)
  if (plan.kind === BYTES) return at + (value as Buffer).copy(buffer, at)
  return buffer.writeUIntBE(value as number, at, plan.kind)
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
  buffer[at]! * 0x1000000 + ((buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!)

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
  const pdu: Bag & { tlvs: Tlvs } = {
    command: plan.command,
    status: readInt32(buffer, start + 8),
    sequence,
    tlvs: NO_TLVS,
  } as never
  const at = readFields(buffer, start + HEADER_BYTES, end, plan, pdu)
  if (at < 0) return malformed(id, sequence, status.ESME_RINVCMDLEN, `${plan.command} ends in the middle of a field`)
  if (at === end) return pdu as unknown as Pdu
  const read = readTlvs(buffer, at, end)
  if (typeof read === 'string') return malformed(id, sequence, status.ESME_RINVOPTPARSTREAM, `${plan.command}: ${read}`)
  pdu.tlvs = read
  return pdu as unknown as Pdu
}

const malformed = (id: number, sequence: number, code: number, reason: string): Malformed => ({
  command: 'malformed',
  id,
  status: code,
  sequence,
  reason,
})

/** Returns the end of the fields, or -1 if the PDU ends before them. An answer may have no body. */
function readFields(buffer: Buffer, start: number, end: number, plan: Plan, into: Bag): number {
  const { names, kinds } = plan
  if (start === end && plan.isResponse) return leaveEmpty(plan, into, end)
  let at = start
  for (let i = 0; i < kinds.length; i++) {
    if (at >= end) return -1
    const kind = kinds[i]!
    if (kind === TEXT) {
      const stop = endOfText(buffer, at, end)
      if (stop < 0) return -1
      into[names[i]!] = stop === at ? '' : buffer.toString('latin1', at, stop)
      at = stop + 1
    } else if (kind === BYTES) {
      const stop = at + 1 + buffer[at]!
      if (stop > end) return -1
      into[names[i]!] = buffer.subarray(at + 1, stop)
      at = stop
    } else into[names[i]!] = buffer[at++]
  }
  return at
}

function leaveEmpty({ names, kinds }: Plan, into: Bag, end: number): number {
  for (let i = 0; i < kinds.length; i++) {
    into[names[i]!] = kinds[i] === TEXT ? '' : kinds[i] === BYTES ? NO_BYTES : 0
  }
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
    const tag = (buffer[at]! << 8) | buffer[at + 1]!
    const from = at + TLV_HEADER_BYTES
    at = from + ((buffer[at + 2]! << 8) | buffer[at + 3]!)
    if (at > end) return `optional parameter 0x${tag.toString(16)} is longer than the rest`
    const plan = tlvByTag.get(tag)
    if (!plan || plan.name in read) keepRaw(read, tag, buffer.subarray(from, at))
    else if (!readTlv(buffer, from, at, plan, read as Bag))
      return `optional parameter 0x${tag.toString(16)} is no number`
  }
  return read
}

function keepRaw(read: Tlvs, tag: number, value: Buffer) {
  read.others ??= []
  read.others.push({ tag, value })
}

/** Accepts numbers of any width up to four octets, and texts with or without a NUL: operators send both. */
function readTlv(buffer: Buffer, from: number, end: number, { name, kind }: TlvPlan, into: Bag): boolean {
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
