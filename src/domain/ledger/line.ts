import type { Money } from '../../base/money.ts'
import type { EntryKind } from './account.ts'

/** Entries of one day with the same cause: a dispatch, single messages, a package, the fee of a name; or one top-up or correction. */
export type LedgerLine = {
  lineId: number
  /** In the billing zone: `2026-07-20`. */
  day: string
  /** The month that it belongs to: a fee may be charged a day after its month. */
  month: string
  kind: EntryKind
  amount: Money
  messages: number
  entries: number
  firstAt: Date
  lastAt: Date
  note: string | null
  dispatchId: number | null
  dispatchName: string | null
  senderId: number | null
  senderName: string | null
  brand: string | null
  tariffId: number | null
}

/** One amount in the books: what a batch of results came to. */
export type LedgerEntry = { entryId: number; at: Date; amount: Money; messages: number | null }

/** The days are days of the billing zone. Both are included. */
export type LineFilter = { kind?: EntryKind | undefined; from?: string | undefined; to?: string | undefined }

/** Where a page ends. */
export type LinePlace = { day: string; lineId: number }
