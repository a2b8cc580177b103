import type { Money } from '../../base/money.ts'

export const billingModes = ['POSTPAID', 'PREPAID'] as const

/** A postpaid company is limited by its budget alone; a prepaid one also by its balance. */
export type BillingMode = (typeof billingModes)[number]

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
export function monthOf(moment: Date, zone: string): string {
  return `${formatterOf(zone).format(moment).slice(0, 7)}-01`
}

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

export type Entry = {
  kind: 'TOPUP' | 'MESSAGES' | 'MAU_PACKAGE' | 'SENDER_FEE'
  amount: Money
  currency: string
  month: string
  dispatchId?: number | null
  senderId?: number | null
  tariffId?: number | null
  note?: string | null
}
