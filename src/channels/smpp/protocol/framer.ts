import { decode, HEADER_BYTES, readInt32 } from './codec.ts'
import type { Malformed, Pdu } from './pdu.ts'
import { status } from './status.ts'

/** The first field of every PDU is its length, itself included. */
const LENGTH_BYTES = 4

/** A PDU with a message_payload of its full 64 KiB, and room for its fields. */
export const MOST_PDU_BYTES = 0x10000 + 4096

export type FramerHandlers = {
  onPdu(pdu: Pdu): void
  /** A PDU that cannot be read. The stream goes on with the next PDU. */
  onMalformed(malformed: Malformed): void
  /** Called once, when a length is impossible: the framer cannot find the next PDU, and ignores the rest of the stream. */
  onBroken(malformed: Malformed): void
}

/**
 * Cuts a stream of bytes into PDUs. An impossible length is reported as soon as its four bytes have arrived. The framer
 * stores at most one incomplete PDU, and allocates memory for it only after it has checked the length.
 */
export class Framer {
  readonly #handlers: FramerHandlers
  readonly #mostBytes: number
  #partial: Buffer | undefined
  #partialBytes = 0
  #isStopped = false

  constructor(handlers: FramerHandlers, mostBytes = MOST_PDU_BYTES) {
    this.#handlers = handlers
    this.#mostBytes = mostBytes
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#isStopped) {
      at = this.#partial ? this.#fill(this.#partial, chunk, at) : this.#take(chunk, at)
    }
  }

  /** Calls no handler any more. */
  stop(): void {
    this.#isStopped = true
    this.#forgetPartial()
  }

  /** How many bytes of an incomplete PDU are stored. */
  get partialBytes(): number {
    return this.#partialBytes
  }

  /** Reads a whole PDU directly from the chunk, or starts to store an incomplete PDU. */
  #take(chunk: Buffer, at: number): number {
    const rest = chunk.length - at
    if (rest < LENGTH_BYTES) return this.#store(LENGTH_BYTES, chunk, at)
    const length = readInt32(chunk, at)
    if (!this.#isPossible(length)) return this.#breakOff(chunk, at)
    if (rest < length) return this.#store(length, chunk, at)
    this.#emit(decode(chunk, at, at + length))
    return at + length
  }

  #store(size: number, chunk: Buffer, at: number): number {
    const partial = Buffer.allocUnsafe(size)
    this.#partial = partial
    this.#partialBytes = 0
    return this.#fill(partial, chunk, at)
  }

  #fill(partial: Buffer, chunk: Buffer, at: number): number {
    const copied = chunk.copy(partial, this.#partialBytes, at)
    this.#partialBytes += copied
    if (this.#partialBytes === partial.length) this.#complete(partial)
    return at + copied
  }

  /** The buffer is full: it contains the length alone, or the whole PDU. */
  #complete(buffer: Buffer) {
    const length = readInt32(buffer, 0)
    if (!this.#isPossible(length)) this.#breakOff(buffer, 0)
    else if (length > buffer.length) this.#store(length, buffer, 0)
    else {
      this.#forgetPartial()
      this.#emit(decode(buffer, 0, length))
    }
  }

  #emit(pdu: Pdu | Malformed) {
    if (pdu.command === 'malformed') this.#handlers.onMalformed(pdu)
    else this.#handlers.onPdu(pdu)
  }

  #forgetPartial() {
    this.#partial = undefined
    this.#partialBytes = 0
  }

  #isPossible(length: number): boolean {
    return length >= HEADER_BYTES && length <= this.#mostBytes
  }

  #breakOff(buffer: Buffer, at: number): number {
    this.stop()
    this.#handlers.onBroken({
      command: 'malformed',
      id: fieldOf(buffer, at + ID_AT),
      status: status.ESME_RINVCMDLEN,
      sequence: fieldOf(buffer, at + SEQUENCE_AT),
      reason: reasonOf(readInt32(buffer, at)),
    })
    return buffer.length
  }
}

const ID_AT = 4
const SEQUENCE_AT = 12

/** A field of the header, or 0 if it has not arrived: in SMPP, 0 means "not known". */
const fieldOf = (buffer: Buffer, at: number) => (buffer.length >= at + 4 ? readInt32(buffer, at) : 0)

/** The first bytes of a TLS record (a handshake or an alert, version 3.x) and of an HTTP answer. */
const isTls = (length: number) => /^1[56]03/.test(length.toString(16).padStart(8, '0'))
const HTTP = Buffer.from('HTTP').readUInt32BE()

function reasonOf(length: number): string {
  if (isTls(length)) return 'the other side speaks TLS, and this connection does not: set tls=true'
  if (length === HTTP) return 'the other side speaks HTTP, not SMPP: check host and port'
  return `a PDU of ${length} octets`
}
