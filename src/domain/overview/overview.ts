import type { ChannelType } from '../../base/channel-types.ts'
import type { WaitingShare } from '../../base/time/sending-end.ts'
import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import { type Brand, brandOf } from '../numbering/brand.ts'
import type { Right } from '../people/rights.ts'
import { waitingByWindow } from '../waiting/waiting.ts'
import { type Attention, attentionOf } from './attention.ts'
import { type ChartHour, chartOf, type Days, daysAt, sentBetween, shareOf, withoutResult } from './days.ts'
import * as store from './store.ts'
import type { UsualShares } from './usual-shares.ts'
import { type OldestWaiting, oldestOf, waitingPlaces } from './waiting.ts'

export type Today = {
  sent: number
  /** Until the same time of yesterday. */
  sentYesterday: number
  delivered: number
  failed: number
  onTheWay: number
}

/** A channel or an operator today. The shares are of messages with a result; null without any. */
export type ChannelToday = { sent: number; failed: number; share: number | null; usualShare: number | null }

/** With how many of its messages wait for which hours: by it the page estimates the end. */
export type RunningDispatch = store.DispatchSums & { hours: WaitingShare[] }

export type Overview = {
  companies: number
  today: Today
  funds: store.Funds[] | undefined
  oldest: OldestWaiting | undefined
  hours: ChartHour[]
  operators: (ChannelToday & { brand: Brand | null })[]
  channels: (ChannelToday & { channelType: ChannelType })[]
  running: { total: number; items: RunningDispatch[] }
  attention: Attention[]
  /** Of a single company that has sent nothing yet. */
  firstSteps: store.FirstSteps | undefined
}

type Asking = {
  scope: CompanyScope
  sees: (right: Right) => boolean
  now: Date
  billingZone: string
  usualShares: UsualShares
}

const MOST_RUNNING = 6

/**
 * What happens now in a company or in several. Its cost does not depend on the number of messages: it reads rolled-up
 * hours, counters of dispatches, lanes and accounts, and single messages only by their place.
 */
export async function overviewOf(sql: Sql, asking: Asking): Promise<Overview> {
  const { scope, sees, now, billingZone } = asking
  const days = daysAt(now, billingZone)
  const [[count], hours, sums, usual, running, [runningCount], waiting, funds, firstSteps] = await Promise.all([
    store.countCompanies(sql, scope),
    store.selectHours(sql, scope, days.yesterday),
    store.selectChannelSums(sql, scope, days.today, now),
    asking.usualShares.of(sql, scope, days),
    store.selectRunning(sql, scope, MOST_RUNNING),
    store.countRunning(sql, scope),
    waitingPlaces(sql, scope, now),
    sees('money.see') ? store.selectFunds(sql, scope, days.month) : undefined,
    firstStepsOf(sql, scope),
  ])
  return {
    companies: count!.companies,
    today: todayOf(hours, running, days),
    funds,
    oldest: await oldestOf(sql, waiting, now),
    hours: chartOf(hours, days),
    operators: operatorsOf(sums, usual),
    channels: channelsOf(sums, usual),
    running: { total: runningCount!.total, items: await withHours(sql, running) },
    attention: await attentionOf(sql, { scope, sees, days, usual, waiting }),
    firstSteps,
  }
}

const withHours = (sql: Sql, running: store.DispatchSums[]): Promise<RunningDispatch[]> =>
  Promise.all(
    running.map(async dispatch => {
      const { companyId, dispatchId, waiting } = dispatch
      return { ...dispatch, hours: waiting > 0 ? await waitingByWindow(sql, companyId, dispatchId) : [] }
    }),
  )

function todayOf(hours: store.HourSums[], running: store.DispatchSums[], days: Days): Today {
  const today = hours.filter(({ hour }) => hour >= days.today)
  // Messages that failed before they were sent make the estimate too small; dispatches know their own number exactly.
  const estimate = sum([...withoutResult(hours).values()])
  const ofDispatches = sum(running.map(({ sent }) => sent))
  const yesterdayNow = new Date(days.yesterday.getTime() + (days.now.getTime() - days.today.getTime()))
  return {
    sent: sum(today.map(({ sent }) => sent)),
    sentYesterday: sentBetween(hours, days.yesterday, yesterdayNow),
    delivered: sum(today.map(({ delivered }) => delivered)),
    failed: sum(today.map(({ failed }) => failed)),
    onTheWay: Math.max(estimate, ofDispatches),
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

/** Only SMS has operators: in other channels the operator of the number does not carry the message. */
function operatorsOf(sums: store.ChannelSums[], usual: store.ChannelSums[]): Overview['operators'] {
  const ofSms = ({ channelType }: store.ChannelSums) => channelType === 'SMS'
  return channelsBy(sums.filter(ofSms), usual.filter(ofSms), ({ brandId }) => brandId).map(({ key, channel }) => ({
    brand: brandOf(key) ?? null,
    ...channel,
  }))
}

const channelsOf = (sums: store.ChannelSums[], usual: store.ChannelSums[]): Overview['channels'] =>
  channelsBy(sums, usual, ({ channelType }) => channelType).map(({ key, channel }) => ({
    channelType: key,
    ...channel,
  }))

/** The sums by a key, ordered by the count of messages, highest first. */
function channelsBy<Key>(
  sums: store.ChannelSums[],
  usual: store.ChannelSums[],
  keyOf: (sums: store.ChannelSums) => Key,
) {
  const before = Map.groupBy(usual, keyOf)
  return [...Map.groupBy(sums, keyOf)]
    .map(([key, sums]) => ({ key, channel: channelToday(sums, before.get(key) ?? []) }))
    .filter(({ channel }) => channel.sent + channel.failed > 0 || channel.share !== null)
    .sort((a, b) => b.channel.sent - a.channel.sent)
}

const channelToday = (sums: store.ChannelSums[], usual: store.ChannelSums[]): ChannelToday => ({
  sent: sum(sums.map(({ sent }) => sent)),
  failed: sum(sums.map(({ failed }) => failed)),
  share: shareOf(resultsOf(sums)),
  usualShare: shareOf(resultsOf(usual)),
})

const resultsOf = (sums: store.ChannelSums[]) => ({
  delivered: sum(sums.map(({ delivered }) => delivered)),
  failed: sum(sums.map(({ failed }) => failed)),
})

// A new company -------------------------------------------------------------------------------------------------------

async function firstStepsOf(sql: Sql, scope: CompanyScope): Promise<store.FirstSteps | undefined> {
  if (scope.kind !== 'COMPANY') return undefined
  const [steps] = await store.selectFirstSteps(sql, scope.companyId)
  return steps!.hasTraffic ? undefined : steps
}
