import type { ChannelType } from '../../base/channel-types.ts'
import { type Money, money } from '../../base/money.ts'
import type { BillingMode } from '../companies/terms.ts'

export type Account = {
  balance: Money
  reserved: Money
  /** In the month asked for. */
  spent: Money
  budget: Money | null
  billing: BillingMode
  currency: string
}

/** The calendar month of a moment in the billing zone, as the first of it: `2026-07-01`. */
export const monthOf = (moment: Date, zone: string): string => `${dayOf(moment, zone).slice(0, 7)}-01`

/** The day of a moment in the billing zone: `2026-07-20`. */
export const dayOf = (moment: Date, zone: string): string => formatterOf(zone).format(moment)

/** A larger amount is refused: it is most likely a typing error, and the ledger keeps every entry. */
const MOST_TOP_UP = money('100000000')

/** Why an amount cannot be topped up; undefined when it can. */
export function refusalOfTopUp(amount: Money): string | undefined {
  if (amount <= 0n) return 'must be more than 0'
  return amount > MOST_TOP_UP ? 'must be at most 100000000' : undefined
}

/** Why the balance cannot be corrected by an amount, which has a sign; undefined when it can. */
export function refusalOfCorrection(amount: Money): string | undefined {
  if (amount === 0n) return 'must not be 0'
  return amount > MOST_TOP_UP || amount < -MOST_TOP_UP ? 'must be at most 100000000' : undefined
}

/** The time of a change of the account, and the zone of its day and month. */
export type Billing = { billingZone: string; now: Date }

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formatters.set(zone, formatter)
  }
  return formatter
}

export type DueFee = { companyId: number; senderId: number; fee: Money }

export const entryKinds = ['TOPUP', 'CORRECTION', 'MESSAGES', 'MAU_PACKAGE', 'SENDER_FEE'] as const
export type EntryKind = (typeof entryKinds)[number]

/** What a company pays for. */
export type ChargeKind = Exclude<EntryKind, 'TOPUP' | 'CORRECTION'>

/** What an entry adds to the balance: charges are positive in the books, a correction has a sign. */
export const changeOfBalance = ({ kind, amount }: { kind: EntryKind; amount: Money }): Money =>
  kind === 'TOPUP' || kind === 'CORRECTION' ? amount : -amount

export type Entry = {
  kind: EntryKind
  amount: Money
  currency: string
  month: string
  dispatchId?: number | null
  senderId?: number | null
  tariffId?: number | null
  note?: string | null
  /** Of MESSAGES: how many were delivered. */
  messages?: number
}

/** A part of a charge. Statements add up such parts. */
export type ChargeShare = {
  kind: ChargeKind
  month: string
  channelType: ChannelType | null
  brandId: number | null
  tariffId: number | null
  /** Messages; of packages and fees, how many there are. */
  messages: number
  parts: number
  amount: Money
}
