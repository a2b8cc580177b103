import type { Sql } from '../../db/sql.ts'
import type { Account } from '../ledger/account.ts'
import { accountsOf } from '../ledger/ledger.ts'
import type { Right } from '../people/rights.ts'
import { type Attention, attentionOfEach } from './attention.ts'
import { CHART_HOURS, type Days, daysAt } from './days.ts'
import * as store from './store.ts'

/** The current figures of a company, for a list of companies. */
export type CompanySummary = {
  /** Only for people who may see money. */
  account: Account | undefined
  today: { sent: number; delivered: number; failed: number }
  /** Sent in each of the last 24 hours, the present one at the end. */
  sentByHour: number[]
  /** Dispatches that run; 100 are 100 or more. */
  running: number
  attention: Attention[]
}

type Asking = { sees: (right: Right) => boolean; now: Date; billingZone: string }

/** Of companies of one page: what it reads depends on their number alone, not on their messages. */
export async function companySummaries(
  sql: Sql,
  companyIds: number[],
  asking: Asking,
): Promise<Map<number, CompanySummary>> {
  const { sees, now, billingZone } = asking
  const days = daysAt(now, billingZone)
  const from = new Date(Math.min(days.today.getTime(), days.firstHour.getTime()))
  const [accounts, hours, running, attention] = await Promise.all([
    sees('money.see') ? accountsOf(sql, companyIds, days.month) : [],
    store.selectHoursOf(sql, companyIds, from),
    store.countRunningOf(sql, companyIds),
    attentionOfEach(sql, companyIds, { sees, days }),
  ])
  const hoursOf = Map.groupBy(hours, ({ companyId }) => companyId)
  const accountOf = new Map(accounts.map(account => [account.companyId, account]))
  const runningOf = new Map(running.map(row => [row.companyId, row.running]))
  const standingOf = (companyId: number): CompanySummary => ({
    account: accountOf.get(companyId),
    ...trafficOf(hoursOf.get(companyId) ?? [], days),
    running: runningOf.get(companyId) ?? 0,
    attention: attention.get(companyId) ?? [],
  })
  return new Map(companyIds.map(companyId => [companyId, standingOf(companyId)]))
}

const HOUR_MS = 3_600_000

function trafficOf(hours: store.HourSums[], { today, firstHour }: Days) {
  const ofToday = hours.filter(({ hour }) => hour >= today)
  const sum = (field: 'sent' | 'delivered' | 'failed') => ofToday.reduce((total, sums) => total + sums[field], 0)
  const sentAt = new Map(hours.map(({ hour, sent }) => [hour.getTime(), sent]))
  return {
    today: { sent: sum('sent'), delivered: sum('delivered'), failed: sum('failed') },
    sentByHour: Array.from(
      { length: CHART_HOURS },
      (_, place) => sentAt.get(firstHour.getTime() + place * HOUR_MS) ?? 0,
    ),
  }
}

export type PartnerSummary = Omit<store.PartnerSums, 'partnerId'>

/** For staff: how many companies each partner has, and what they sent today together. */
export async function partnerSummaries(
  sql: Sql,
  partnerIds: number[],
  { now, billingZone }: Pick<Asking, 'now' | 'billingZone'>,
): Promise<Map<number, PartnerSummary>> {
  const sums = await store.selectSumsOfPartners(sql, partnerIds, daysAt(now, billingZone).today)
  const without = { companies: 0, sent: 0, delivered: 0, failed: 0 }
  const ofPartners = new Map<number, PartnerSummary>(partnerIds.map(partnerId => [partnerId, without]))
  for (const { partnerId, ...standing } of sums) ofPartners.set(partnerId, standing)
  return ofPartners
}
