import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { type Account, type Billing, dayOf, monthOf } from './account.ts'
import { accountOf } from './ledger.ts'
import type { DaySums } from './statement-store.ts'
import * as store from './statement-store.ts'
import { type ChannelLine, channelLines } from './statements.ts'
import { countExhausted } from './store.ts'

/**
 * When the money is used up, at the speed of the last seven days. `unknown`: too few of them had charges; `lasts`: a
 * budget lasts until the end of its month; `unlimited`: nothing limits the company.
 */
export type Forecast =
  | { kind: 'unlimited' }
  | { kind: 'empty' }
  | { kind: 'unknown' }
  | { kind: 'lasts' }
  | { kind: 'out'; on: string }

export type Spending = {
  account: Account
  /** The first of the month. */
  month: string
  today: string
  daysInMonth: number
  /** The amount that the company can still spend; null without a limit. */
  free: Money | null
  forecast: Forecast
  /** A day, over the seven days before today, and over the seven before them. Fees are not in it. */
  pace: Money
  paceBefore: Money
  /** Every day of the month until today. */
  days: { day: string; amount: Money }[]
  channels: ChannelLine[]
  packages: Money
  fees: Money
  withoutDetails: Money
}

const PACE_DAYS = 7
/** Fewer days with charges say nothing about the next ones. */
const FEWEST_DAYS = 3

export async function spendingOf(sql: Sql, companyId: number, billing: Billing): Promise<Spending> {
  const month = monthOf(billing.now, billing.billingZone)
  const today = dayOf(billing.now, billing.billingZone)
  const first = addDays(today, -2 * PACE_DAYS)
  const [account, sums] = await Promise.all([
    accountOf(sql, companyId, month),
    store.selectDays(sql, companyId, first < month ? first : month),
  ])
  const ofMonth = sums.filter(share => share.month === month)
  const detailed = ofMonth.filter(({ kind, channelType }) => kind === 'MESSAGES' && channelType !== null)
  const [packages, fees] = [sumOf(ofMonth, 'MAU_PACKAGE'), sumOf(ofMonth, 'SENDER_FEE')]
  return {
    account,
    month,
    today,
    daysInMonth: Number(addDays(nextMonth(month), -1).slice(8)),
    free: freeOf(account),
    forecast: forecastOf(account, sums, today),
    pace: paceOf(sums, addDays(today, -PACE_DAYS), today),
    paceBefore: paceOf(sums, first, addDays(today, -PACE_DAYS)),
    days: daysOf(ofMonth, month, today),
    channels: channelLines(detailed),
    packages,
    fees,
    withoutDetails: account.spent - total(detailed) - packages - fees,
  }
}

/** The amount that can still be reserved; null without a limit. */
export function freeOf({ budget, billing, balance, reserved, spent }: Account): Money | null {
  const limits = [
    ...(budget === null ? [] : [budget - spent - reserved]),
    ...(billing === 'PREPAID' ? [balance - reserved] : []),
  ]
  return limits.length === 0 ? null : limits.reduce((least, limit) => (limit < least ? limit : least))
}

export function forecastOf(account: Account, sums: DaySums[], today: string): Forecast {
  const free = freeOf(account)
  if (free === null) return { kind: 'unlimited' }
  if (free <= 0n) return { kind: 'empty' }
  const recent = sums.filter(
    ({ kind, day }) => kind !== 'SENDER_FEE' && day >= addDays(today, -PACE_DAYS) && day < today,
  )
  if (new Set(recent.map(({ day }) => day)).size < FEWEST_DAYS) return { kind: 'unknown' }
  const days = Number((free * BigInt(PACE_DAYS)) / total(recent))
  const on = addDays(today, Math.min(days, MOST_DAYS))
  // A budget is a new one next month; a balance goes on.
  const isOfBudget = account.billing !== 'PREPAID' || free < account.balance - account.reserved
  return (isOfBudget && on.slice(0, 7) > today.slice(0, 7)) || days > MOST_DAYS
    ? { kind: 'lasts' }
    : { kind: 'out', on }
}

/** The longest forecast. */
const MOST_DAYS = 365

function paceOf(sums: DaySums[], from: string, until: string): Money {
  const within = sums.filter(({ kind, day }) => kind !== 'SENDER_FEE' && day >= from && day < until)
  return total(within) / BigInt(PACE_DAYS)
}

function daysOf(sums: DaySums[], month: string, today: string): Spending['days'] {
  const byDay = Map.groupBy(sums, ({ day }) => day)
  const days: Spending['days'] = []
  for (let day = month; day <= today; day = addDays(day, 1)) days.push({ day, amount: total(byDay.get(day) ?? []) })
  return days
}

const total = (shares: { amount: Money }[]): Money => shares.reduce((sum, { amount }) => sum + amount, 0n)

const sumOf = (shares: DaySums[], wanted: DaySums['kind']) => total(shares.filter(({ kind }) => kind === wanted))

const DAY_MS = 24 * 3600_000

/** Adds calendar days. Changes of summer time do not matter. */
const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

const nextMonth = (month: string) => `${addDays(month, 31).slice(0, 7)}-01`

/** How many companies that spent money this month cannot pay for more messages, by the limit that they reached. */
export async function exhaustedCompanies(sql: Sql, { now, billingZone }: Billing) {
  const [row] = await countExhausted(sql, monthOf(now, billingZone))
  return row!
}
