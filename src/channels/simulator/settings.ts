import Type, { type StaticDecode } from 'typebox'
import { flag, type RawSettings, senderNames, share, valuesOf, whole } from '../settings.ts'

/** The behaviour of simulated operators, except for the test numbers with a fixed behaviour. */
export const simulatorSchema = Type.Object({
  /** The receipt of an ordinary number comes after a random time up to this. */
  receiptMs: whole(0, 3_600_000, 500),
  /** The time until a submission is answered. */
  submitMs: whole(0, 3_600_000, 0),
  /** The share of undelivered, refused and busy messages. */
  failRate: share(),
  refuseRate: share(),
  busyRate: share(),
  window: whole(1, 100_000, 5000),
  /** The operators give ids to messages, and receipts contain them, as with real operators. */
  ownIds: flag(),
  senderNames: senderNames(),
})

export type SimulatorSettings = StaticDecode<typeof simulatorSchema>

export const readSettings = (raw: RawSettings): SimulatorSettings => valuesOf(simulatorSchema, raw)
