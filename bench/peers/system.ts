import type { SmscProcess } from './smsc.ts'

/** The text of every message: one part, in the alphabet of GSM. */
export const TEXT = 'Your order 1234 is ready for collection. We wait for you every day from 9 to 21.'
export const BINDS = 2
export const WINDOW = 100

/** How one message is sent to a system by HTTP. `DESTINATION` in the path or in the body stands for the number. */
export type MessageRequest = { method: string; path: string; headers: Record<string, string>; body: string | undefined }

/** Seconds of processor time of each part of a system. */
export type PartSeconds = Record<string, number>

/** A system under measurement: its processes, and the operator that it is connected to. */
export type System = {
  name: string
  smsc: SmscProcess
  /** The port of its HTTP API. */
  port(): number
  request: MessageRequest
  processorSeconds(): Promise<PartSeconds>
  memoryBytes(): Promise<number>
  /** Committed transactions of its database so far. A statement outside a transaction counts as one. */
  commits?(): Promise<number>
  /** Ends all of its processes at once, as a power failure does. */
  kill(): Promise<void>
  /** Starts it again on the files that it left. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export const totalOf = (parts: PartSeconds) => Object.values(parts).reduce((sum, seconds) => sum + seconds, 0)
