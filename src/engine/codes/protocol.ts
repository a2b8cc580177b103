import type { Outgoing, SendResult } from '../../channels/channel.ts'
import type { ThreadState } from '../gateways/gateways.ts'

/** A gateway of the main thread, as the codes thread needs to know it. */
export type LentState = { gatewayId: number; up: boolean; window: number }

/** What the codes thread tells the main thread of its engine. */
export type FromCodes =
  /** From now on this thread sends the codes. */
  | { kind: 'ready' }
  /** Submit these messages, unless this takes until `latestAt` on the clock of `monotonicMs`. */
  | { kind: 'submit'; call: number; gatewayId: number; batch: Outgoing[]; latestAt: number }
  /** A code waits for this limit: for so long, only codes may draw from it. */
  | { kind: 'wanted'; subject: string; forMs: number }
  | { kind: 'states'; states: ThreadState[] }

export type ToCodes =
  | { kind: 'gateways'; states: LentState[] }
  | { kind: 'result'; call: number; index: number; result: SendResult }
  /** All results of the call were reported. Messages without a result were not submitted. */
  | { kind: 'answered'; call: number }
  | { kind: 'stop' }

/** A clock that all threads of a process share. `performance.now()` of a thread begins with the thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000
