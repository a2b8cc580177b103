import type { Socket } from 'node:net'
import { encode, isResponse } from './codec.ts'
import { Framer } from './framer.ts'
import type { Draft, Malformed, Pdu } from './pdu.ts'
import { socketErrorReason } from './socket-errors.ts'

export type ConnectionHandlers = {
  onPdu(pdu: Pdu): void
  /** A PDU that cannot be read. If it was a request, the connection has already answered it. */
  onMalformed(malformed: Malformed): void
  /** Called once, with the first known reason. */
  onClosed(reason: string): void
}

export const CLOSED_BY_PEER = 'closed by the other side'

/** With more unsent bytes than this the connection stops reading: a peer that does not read gets no more answers. */
const MOST_UNSENT_BYTES = 1024 * 1024
const CLOSE_WITHIN_MS = 1000

/**
 * PDUs over a socket, for an ESME or an SMSC. They are collected, and written together when the running code ends or by
 * `flush`. An unreadable PDU is answered with generic_nack. An impossible length is answered too, and ends the connection.
 */
export class Connection {
  readonly #socket: Socket
  readonly #handlers: ConnectionHandlers
  readonly #framer: Framer
  #unsent: Buffer[] = []
  #closedBecause: string | undefined
  #isPaused = false
  #isClogged = false
  #reads = 0

  constructor(socket: Socket, handlers: ConnectionHandlers) {
    this.#socket = socket
    this.#handlers = handlers
    this.#framer = new Framer({
      onPdu: pdu => handlers.onPdu(pdu),
      onMalformed: malformed => this.#onMalformed(malformed),
      onBroken: malformed => this.#onBroken(malformed),
    })
    socket.setNoDelay(true)
    socket.on('data', chunk => this.#read(chunk))
    socket.on('drain', () => this.#unclog())
    socket.on('error', error => this.#note(socketErrorReason(error)))
    socket.on('end', () => this.#note(CLOSED_BY_PEER))
    socket.on('close', () => this.#onClosed())
  }

  /** Throws a RangeError if the draft cannot be encoded. On a closing connection the PDU is dropped. */
  send(draft: Draft): void {
    const bytes = encode(draft)
    if (!this.#socket.writable) return
    if (this.#unsent.length === 0) queueMicrotask(() => this.flush())
    this.#unsent.push(bytes)
  }

  /** Writes the collected PDUs now. */
  flush(): void {
    const [first] = this.#unsent
    if (!first) return
    const bytes = this.#unsent.length === 1 ? first : Buffer.concat(this.#unsent)
    this.#unsent = []
    if (!this.#socket.writable) return
    this.#socket.write(bytes)
    if (this.#socket.writableLength > MOST_UNSENT_BYTES) this.#clog()
  }

  /** Stops reading, so that the peer must wait. */
  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isClogged) this.#socket.resume()
  }

  /** How many chunks were read so far. */
  get reads(): number {
    return this.#reads
  }

  /** Whether a PDU that is sent now can still arrive. */
  get isOpen(): boolean {
    return this.#closedBecause === undefined && this.#socket.writable
  }

  /** Sends the unsent PDUs, then closes. */
  close(reason: string): void {
    this.#note(reason)
    this.#framer.stop()
    this.flush()
    this.#socket.end()
    this.#socket.resume() // further input is read and dropped: a paused socket would not notice the end
    setTimeout(() => this.#socket.destroy(), CLOSE_WITHIN_MS).unref()
  }

  destroy(reason: string): void {
    this.#note(reason)
    this.#framer.stop()
    this.#socket.destroy()
  }

  #read(chunk: Buffer) {
    this.#reads++
    this.#framer.push(chunk)
  }

  #onMalformed(malformed: Malformed) {
    if (!isResponse(malformed.id)) this.#refuse(malformed)
    this.#handlers.onMalformed(malformed)
  }

  #onBroken(malformed: Malformed) {
    this.#refuse(malformed)
    this.#handlers.onMalformed(malformed)
    this.close(`malformed: ${malformed.reason}`)
  }

  #refuse({ status, sequence }: Malformed) {
    this.send({ command: 'generic_nack', status, sequence })
  }

  #clog() {
    this.#isClogged = true
    this.#socket.pause()
  }

  #unclog() {
    this.#isClogged = false
    if (!this.#isPaused) this.#socket.resume()
  }

  #onClosed() {
    this.#framer.stop()
    this.#handlers.onClosed(this.#closedBecause ?? 'the connection was closed')
  }

  #note(reason: string) {
    this.#closedBecause ??= reason
  }
}
