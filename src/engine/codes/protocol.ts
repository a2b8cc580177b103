import type { MessagePort } from 'node:worker_threads'
import type { Health, Outgoing, SendResult } from '../../channels/channel.ts'
import type { ThreadState } from '../gateways/gateways.ts'

/** A gateway of the main thread, as the codes thread needs to know it. */
export type LentState = { gatewayId: number; window: number } & Pick<Health, 'up' | 'binds'>

/** What the codes thread asks of the main thread of its engine. A request should not wait until the event loop is free. */
export type Request =
  /** Submit these messages, each before `latestAt` on the clock of `monotonicMs`. */
  | { kind: 'submit'; call: number; gatewayId: number; batch: Outgoing[]; latestAt: number }
  /** The same messages may be submitted until later. Those at the places `withdrawn` must not be submitted any more. */
  | { kind: 'extend'; call: number; latestAt: number; withdrawn: number[] }

/** The main thread receives requests from `port`. `flag` is shared memory: 1 when a request was posted that may not be taken yet. */
export type RequestPort = { port: MessagePort; flag: Int32Array<SharedArrayBuffer> }

/** What the codes thread tells the main thread. */
export type FromCodes =
  /** Comes first. */
  | { kind: 'request_port'; receiving: RequestPort }
  /** From now on this thread sends the codes. */
  | { kind: 'ready' }
  /** A code waits for this limit: for so long, only codes may draw from it. */
  | { kind: 'wanted'; subject: string; forMs: number }
  /** `unrecorded`: messages that are submitted and not recorded. */
  | { kind: 'states'; states: ThreadState[]; unrecorded: number }
  /** Comes every second, also while the database does not answer: the thread does not hang. */
  | { kind: 'alive' }

export type ToCodes =
  | { kind: 'gateways'; states: LentState[] }
  | { kind: 'result'; call: number; index: number; result: SendResult }
  /** All results of the call were reported. Messages without a result were not submitted. */
  | { kind: 'answered'; call: number }
  /** The connection failed with an error. Messages without a result may have been submitted. */
  | { kind: 'failed'; call: number; error: string }
  | { kind: 'stop' }

/** A clock that all threads of a process share. `performance.now()` of a thread begins with the thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000
