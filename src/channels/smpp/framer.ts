import { decode, HEADER_BYTES, readInt32 } from './codec.ts'
import type { Malformed, Pdu } from './pdu.ts'
import { status } from './status.ts'

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
 * on behind it; a length that cannot be true leaves nothing to go on from: it is told to `onBroken`, once, and the
 * rest of the stream is ignored. Holds at most one PDU, and allocates no more than its length once that is believed.
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
    if (rest < HEADER_BYTES) return hold(HEADER_BYTES, chunk, at)
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

  /** The buffer is full: it was only the header, or it is the PDU. */
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
      id: readInt32(buffer, at + 4),
      status: status.ESME_RINVCMDLEN,
      sequence: readInt32(buffer, at + 12),
      reason: `a PDU of ${readInt32(buffer, at)} octets`,
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
