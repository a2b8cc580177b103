import { decode, HEADER_BYTES, readInt32 } from './codec.ts'
import type { Malformed, Pdu } from './pdu.ts'
import { status } from './status.ts'

/** The first field of every PDU is its length, itself included. */
const LENGTH_BYTES = 4

/** A PDU with a message_payload of its full 64 KiB, and room for its fields. */
export const MOST_PDU_BYTES = 0x10000 + 4096

export type Framer = {
  push(chunk: Buffer): void
  /** Says nothing more, whatever still comes. */
  stop(): void
  /** What it holds of a PDU that is not complete yet. */
  readonly heldBytes: number
}

/**
 * Cuts a stream into PDUs, however it arrives. A PDU that cannot be read is told as `malformed` and the stream goes
 * on behind it; a length that cannot be true leaves nothing to go on from: it is told to `onBroken`, once, as soon as
 * its four bytes are there, and the rest of the stream is ignored. Holds at most one PDU, and allocates no more than its length once that is believed.
 */
export function createFramer(
  onPdu: (pdu: Pdu | Malformed) => void,
  onBroken: (malformed: Malformed) => void,
  mostBytes = MOST_PDU_BYTES,
): Framer {
  let held: Buffer | undefined
  let heldBytes = 0
  let stopped = false

  function push(chunk: Buffer) {
    let at = 0
    while (at < chunk.length && !stopped) at = held ? fill(chunk, at) : take(chunk, at)
  }

  /** Takes a whole PDU straight from the chunk, or begins to hold one. */
  function take(chunk: Buffer, at: number): number {
    const rest = chunk.length - at
    if (rest < LENGTH_BYTES) return hold(LENGTH_BYTES, chunk, at)
    const length = readInt32(chunk, at)
    if (!isBelievable(length)) return breakOff(chunk, at)
    if (rest < length) return hold(length, chunk, at)
    onPdu(decode(chunk, at, at + length))
    return at + length
  }

  function hold(size: number, chunk: Buffer, at: number): number {
    held = Buffer.allocUnsafe(size)
    heldBytes = 0
    return fill(chunk, at)
  }

  function fill(chunk: Buffer, at: number): number {
    const taken = chunk.copy(held!, heldBytes, at)
    heldBytes += taken
    if (heldBytes === held!.length) complete(held!)
    return at + taken
  }

  /** The buffer is full: it has the length alone, or the whole PDU. */
  function complete(buffer: Buffer) {
    const length = readInt32(buffer, 0)
    if (!isBelievable(length)) return breakOff(buffer, 0)
    if (length > buffer.length) {
      hold(length, buffer, 0)
      return
    }
    held = undefined
    heldBytes = 0
    onPdu(decode(buffer, 0, length))
  }

  const isBelievable = (length: number) => length >= HEADER_BYTES && length <= mostBytes

  function breakOff(buffer: Buffer, at: number): number {
    stop()
    onBroken({
      command: 'malformed',
      id: fieldOf(buffer, at + ID_AT),
      status: status.ESME_RINVCMDLEN,
      sequence: fieldOf(buffer, at + SEQUENCE_AT),
      reason: reasonOf(readInt32(buffer, at)),
    })
    return buffer.length
  }

  function stop() {
    stopped = true
    held = undefined
    heldBytes = 0
  }

  return {
    push,
    stop,
    get heldBytes() {
      return heldBytes
    },
  }
}

const ID_AT = 4
const SEQUENCE_AT = 12

/** A field of the header, or 0 when it has not arrived: SMPP says 0 for what is not known. */
const fieldOf = (buffer: Buffer, at: number) => (buffer.length >= at + 4 ? readInt32(buffer, at) : 0)

/** The first bytes of a TLS record (a handshake or an alert, version 3.x) and of an HTTP answer. */
const isTls = (length: number) => /^1[56]03/.test(length.toString(16).padStart(8, '0'))
const HTTP = Buffer.from('HTTP').readUInt32BE()

function reasonOf(length: number): string {
  if (isTls(length)) return 'the other side speaks TLS, and this connection does not: set tls=true'
  if (length === HTTP) return 'the other side speaks HTTP, not SMPP: check host and port'
  return `a PDU of ${length} octets`
}
