/** The npm package `smpp`, our peer in tests and the floor of the bench: as much of it as they use. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { Server as NetServer, Socket } from 'node:net'

  export class PDU {
    constructor(command: string, options?: Record<string, unknown>)
    constructor(buffer: Buffer)
    command: string
    command_status: number
    sequence_number: number;
    // biome-ignore lint/suspicious/noExplicitAny: the package is untyped
    [field: string]: any
    toBuffer(): Buffer
    response(options?: Record<string, unknown>): PDU
  }

  export interface Session extends EventEmitter {
    socket: Socket
    send(pdu: PDU, onAnswer?: (answer: PDU) => void): boolean
    close(): void
    destroy(): void
    // biome-ignore lint/suspicious/noExplicitAny: the package is untyped
    [command: string]: any
  }

  export interface Server extends NetServer {
    sessions: Session[]
  }

  const smpp: {
    PDU: typeof PDU
    createServer(options: Record<string, unknown>, listener: (session: Session) => void): Server
    connect(options: Record<string, unknown>, listener?: () => void): Session
    commands: Record<string, { id: number; params?: Record<string, unknown> }>
    tlvs: Record<string, { id: number }>
    errors: Record<string, number>
  }
  export default smpp
}
