import type { Socket } from 'node:net'
import { encode, isResponse } from './codec.ts'
import { createFramer } from './framer.ts'
import type { Draft, Malformed, Pdu } from './pdu.ts'
import { socketErrorReason } from './socket-errors.ts'

export type ConnectionHandlers = {
  onPdu(pdu: Pdu): void
  /** A PDU that cannot be read. When it asked for something it has been answered already. */
  onMalformed(malformed: Malformed): void
  /** Once, with the first reason known. */
  onClosed(reason: string): void
}

export type Connection = {
  /** Throws a RangeError for what cannot be encoded; otherwise it goes out with this turn's others, if it still can. */
  send(draft: Draft): void
  /** Stops and resumes reading, so that the other side waits with more. */
  hold(): void
  release(): void
  /** How often something was read. */
  readonly reads: number
  /** Whether what is sent now can still arrive. */
  readonly isOpen: boolean
  /** Sends what is waiting, then closes. */
  close(reason: string): void
  destroy(reason: string): void
}

export const CLOSED_BY_PEER = 'closed by the other side'

/** More than this unsent, and we read no further: whoever does not listen is not listened to. */
const MOST_UNSENT_BYTES = 1024 * 1024
const CLOSE_WITHIN_MS = 1000

/**
 * PDUs over a socket, for either side. All that is sent in one turn of the event loop is written at once. A PDU that
 * cannot be read is answered with generic_nack; a length that cannot be true is too, and ends the connection.
 */
export function createConnection(socket: Socket, handlers: ConnectionHandlers): Connection {
  const framer = createFramer(handOn, breakOff)
  let outbox: Buffer[] = []
  let closedBecause: string | undefined
  let isHeld = false
  let isClogged = false
  let reads = 0

  socket.setNoDelay(true)
  socket.on('data', read)
  socket.on('drain', unclog)
  socket.on('error', error => note(socketErrorReason(error)))
  socket.on('end', () => note(CLOSED_BY_PEER))
  socket.on('close', () => {
    framer.stop()
    handlers.onClosed(closedBecause ?? 'the connection was closed')
  })

  function read(chunk: Buffer) {
    reads++
    framer.push(chunk)
  }

  function handOn(pdu: Pdu | Malformed) {
    if (pdu.command !== 'malformed') return handlers.onPdu(pdu)
    if (!isResponse(pdu.id)) refuse(pdu)
    handlers.onMalformed(pdu)
  }

  function breakOff(malformed: Malformed) {
    refuse(malformed)
    handlers.onMalformed(malformed)
    close(`malformed: ${malformed.reason}`)
  }

  const refuse = ({ status, sequence }: Malformed) => send({ command: 'generic_nack', status, sequence })

  function send(draft: Draft) {
    const bytes = encode(draft)
    if (!socket.writable) return
    if (outbox.length === 0) queueMicrotask(flush)
    outbox.push(bytes)
  }

  function flush() {
    if (outbox.length === 0) return
    const bytes = outbox.length === 1 ? outbox[0]! : Buffer.concat(outbox)
    outbox = []
    if (!socket.writable) return
    socket.write(bytes)
    if (socket.writableLength > MOST_UNSENT_BYTES) clog()
  }

  function clog() {
    isClogged = true
    socket.pause()
  }

  function unclog() {
    isClogged = false
    if (!isHeld) socket.resume()
  }

  function close(reason: string) {
    note(reason)
    framer.stop()
    flush()
    socket.end()
    socket.resume() // what still comes is thrown away: unread, it would keep the end from being seen
    setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS).unref()
  }

  function note(reason: string) {
    closedBecause ??= reason
  }

  return {
    send,
    close,
    hold() {
      isHeld = true
      socket.pause()
    },
    release() {
      isHeld = false
      if (!isClogged) socket.resume()
    },
    get reads() {
      return reads
    },
    get isOpen() {
      return closedBecause === undefined && socket.writable
    },
    destroy(reason) {
      note(reason)
      framer.stop()
      socket.destroy()
    },
  }
}
