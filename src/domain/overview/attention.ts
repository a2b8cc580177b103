import type { ChannelType } from '../../base/channel-types.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import { isEngineRunning } from '../engines/engines.ts'
import { listGateways } from '../gateways/gateways.ts'
import { gatewayStates } from '../gateways/monitoring/states.ts'
import type { Right } from '../people/rights.ts'
import { addDays, DAY_MS, type Days, shareOf } from './days.ts'
import * as store from './store.ts'
import type { CompanyName, Waiting } from './waiting.ts'

/** Something that a person should look at. Each kind is mended in one place. */
export type Attention =
  | { kind: 'engine' }
  | {
      kind: 'gateway'
      gatewayId: number
      name: string
      channelType: ChannelType
      since: Date | null
      error: string | null
      waiting: number
    }
  | { kind: 'channel'; channelType: ChannelType; waiting: number }
  | { kind: 'failures'; company: CompanyName; dispatch: FailingDispatch }
  | { kind: 'budget'; company: CompanyName; usedShare: number; runsOutOn: string | null }
  | { kind: 'balance'; company: CompanyName; left: Money; currency: string; runsOutOn: string | null }
  | { kind: 'receiver'; company: CompanyName; receiver: string; failures: number; waitingEvents: number }
  | {
      kind: 'refused'
      company: CompanyName
      senderId: number
      senderName: string
      status: 'REJECTED' | 'DENIED'
      comment: string | null
    }
  | { kind: 'review'; senders: number; templates: number }

export type FailingDispatch = {
  dispatchId: number
  name: string
  failedShare: number
  /** Null when the channel had no results in the days before. */
  usualShare: number | null
  /** What most of them failed with. */
  errorCode: number | null
}

type Asking = {
  scope: CompanyScope
  sees: (right: Right) => boolean
  days: Days
  usual: store.ChannelSums[]
  waiting: Waiting[]
}

/** Of each kind. */
const MOST_LINES = 5

/** The order: problems that stop messages, then money, then problems that can wait until tomorrow. */
export async function attentionOf(sql: Sql, asking: Asking): Promise<Attention[]> {
  const { sees } = asking
  const lines = await Promise.all([
    downOf(sql, asking),
    failuresOf(sql, asking),
    sees('money.see') ? lowBudgetsOf(sql, asking) : [],
    sees('developers.see') ? receiversOf(sql, asking) : [],
    sees('settings.see') ? refusedOf(sql, asking) : [],
    sees('review') && asking.scope.kind === 'STAFF' ? reviewOf(sql) : [],
  ])
  return lines.flat()
}

/**
 * What needs attention in each of these companies: money, callbacks and names. Gateways serve all of them, and failures
 * of dispatches stand on the overview.
 */
export async function attentionOfEach(
  sql: Sql,
  companyIds: number[],
  { sees, days }: Pick<Asking, 'sees' | 'days'>,
): Promise<Map<number, Attention[]>> {
  const asking = { scope: { kind: 'COMPANIES', companyIds } as const, days, most: companyIds.length * 2 }
  const lines = await Promise.all([
    sees('money.see') ? lowBudgetsOf(sql, asking) : [],
    sees('developers.see') ? receiversOf(sql, asking) : [],
    sees('settings.see') ? refusedOf(sql, asking) : [],
  ])
  return Map.groupBy(lines.flat(), line => ('company' in line ? line.company.companyId : 0))
}

// Gateways ------------------------------------------------------------------------------------------------------------

/** Staff see which gateway is down; a company sees the channels in which its messages wait for one. */
async function downOf(sql: Sql, { sees, waiting }: Asking): Promise<Attention[]> {
  const [hasEngine, gateways, states] = await Promise.all([isEngineRunning(sql), listGateways(sql), gatewayStates(sql)])
  if (!hasEngine) return waiting.length > 0 || sees('gateways.see') ? [{ kind: 'engine' }] : []
  const isUp = (gateway: (typeof gateways)[number]) => !gateway.paused && states.get(gateway.gatewayId)?.up === true
  const waitingIn = (channelType: ChannelType, brands: number[]) =>
    waiting
      .filter(lane => lane.channelType === channelType && (brands.length === 0 || brands.includes(lane.brandId)))
      .reduce((total, lane) => total + lane.waiting, 0)
  if (sees('gateways.see')) {
    const down = gateways.filter(gateway => !gateway.paused && !isUp(gateway)).slice(0, MOST_LINES)
    return down.map(({ gatewayId, name, channelType, brands }) => {
      const state = states.get(gatewayId)
      const [since, error] = [state?.lastErrorAt ?? null, state?.lastError ?? null]
      return { kind: 'gateway', gatewayId, name, channelType, since, error, waiting: waitingIn(channelType, brands) }
    })
  }
  const stuck = waiting.filter(
    lane => !gateways.some(gateway => isUp(gateway) && serves(gateway, lane.channelType, lane.brandId)),
  )
  return [...Map.groupBy(stuck, ({ channelType }) => channelType)].map(([channelType, lanes]) => ({
    kind: 'channel',
    channelType,
    waiting: lanes.reduce((total, lane) => total + lane.waiting, 0),
  }))
}

const serves = (gateway: { channelType: ChannelType; brands: number[] }, channelType: ChannelType, brandId: number) =>
  gateway.channelType === channelType && (gateway.brands.length === 0 || gateway.brands.includes(brandId))

// Dispatches ----------------------------------------------------------------------------------------------------------

const RECENT_EACH = 10
const MOST_RECENT = 50
/** Fewer results say nothing about a dispatch. */
const FEWEST_RESULTS = 20
/** Failures are unusual when there are twice as many as usual, and five in a hundred more. */
const TIMES_USUAL = 2
const MORE_THAN_USUAL = 0.05
/** Taken where nothing is known of the days before. */
const ASSUMED_SHARE = 0.05

async function failuresOf(sql: Sql, { scope, days, usual }: Asking): Promise<Attention[]> {
  const recent = await store.selectRecent(sql, scope, days.today, RECENT_EACH, MOST_RECENT)
  const failing = recent.flatMap(dispatch => {
    const usualShare = usualFailuresOf(usual, dispatch.channelType)
    const failedShare = unusualShareOf(dispatch, usualShare)
    return failedShare === undefined ? [] : [{ dispatch, failedShare, usualShare }]
  })
  return Promise.all(
    failing.slice(0, MOST_LINES).map(async ({ dispatch, failedShare, usualShare }): Promise<Attention> => {
      const errorCode = await commonErrorOf(sql, dispatch)
      const { dispatchId, name } = dispatch
      return {
        kind: 'failures',
        company: companyOf(dispatch),
        dispatch: { dispatchId, name, failedShare, usualShare, errorCode },
      }
    }),
  )
}

function usualFailuresOf(usual: store.ChannelSums[], channelType: ChannelType): number | null {
  const sums = usual.filter(each => each.channelType === channelType)
  const delivered = sums.reduce((total, each) => total + each.delivered, 0)
  const failed = sums.reduce((total, each) => total + each.failed, 0)
  const share = shareOf({ delivered, failed })
  return share === null ? null : 1 - share
}

function unusualShareOf({ delivered, failed }: store.DispatchSums, usualShare: number | null): number | undefined {
  if (delivered + failed < FEWEST_RESULTS) return undefined
  const usual = usualShare ?? ASSUMED_SHARE
  const share = failed / (delivered + failed)
  return share >= usual * TIMES_USUAL && share >= usual + MORE_THAN_USUAL ? share : undefined
}

/** So many messages of a dispatch are looked at, evenly over all of it: enough to say what most failed with. */
const SAMPLE = 300

async function commonErrorOf(sql: Sql, dispatch: store.DispatchSums): Promise<number | null> {
  const { messageCount } = dispatch
  const size = Math.min(SAMPLE, messageCount)
  const positions = Array.from({ length: size }, (_, place) => Math.floor((place * messageCount) / size))
  const [common] = await store.selectCommonError(sql, dispatch, positions)
  return common?.errorCode ?? null
}

const companyOf = ({ companyId, companyName }: { companyId: number; companyName: string }): CompanyName => ({
  companyId,
  name: companyName,
})

// Money ---------------------------------------------------------------------------------------------------------------

const MOST_PURSES = 20
/** A prepaid balance is low when it lasts no longer. */
const LOW_DAYS = 3

/** `most`: of a kind, unless it is the usual number. */
type AskingPart = { scope: store.Scope; days: Days; most?: number }

async function lowBudgetsOf(sql: Sql, { scope, days, most = MOST_PURSES }: AskingPart): Promise<Attention[]> {
  const accounts = await store.selectLowBudgets(sql, scope, days, most)
  return accounts.flatMap(account => [...budgetLine(account, days), ...balanceLine(account, days)])
}

const NEARLY_USED = 0.8

function budgetLine(account: store.LowBudget, days: Days): Attention[] {
  const { budget, spent, reserved } = account
  if (budget === null || budget === 0n) return []
  const usedShare = Number(spent + reserved) / Number(budget)
  if (usedShare < NEARLY_USED) return []
  const lasts = daysLeft(budget - spent - reserved, account, days)
  // The budget is a new one next month.
  const endsThisMonth = lasts !== undefined && days.dayOfMonth + lasts <= days.daysInMonth
  const runsOutOn = endsThisMonth ? dateAfter(days, lasts) : null
  return [{ kind: 'budget', company: companyOf(account), usedShare, runsOutOn }]
}

function balanceLine(account: store.LowBudget, days: Days): Attention[] {
  if (account.billing !== 'PREPAID') return []
  const left = account.balance - account.reserved
  const lasts = daysLeft(left, account, days)
  if (left > 0n && (lasts === undefined || lasts > LOW_DAYS)) return []
  const runsOutOn = left > 0n && lasts !== undefined ? dateAfter(days, lasts) : null
  return [{ kind: 'balance', company: companyOf(account), left, currency: account.currency, runsOutOn }]
}

const FEW_DAYS = 7

/** Whole days that an amount lasts at the speed of this month; in its first week of this month and the one before. */
function daysLeft(amount: Money, { spent, spentBefore }: store.LowBudget, days: Days): number | undefined {
  const isEarly = days.dayOfMonth < FEW_DAYS && spentBefore > 0n
  const total = Number(isEarly ? spent + spentBefore : spent)
  const aDay = total / (isEarly ? days.dayOfMonth + days.daysInMonthBefore : days.dayOfMonth)
  return aDay > 0 ? Math.max(0, Math.floor(Number(amount) / aDay)) : undefined
}

const dateAfter = ({ month, dayOfMonth }: Days, count: number) => addDays(month, dayOfMonth - 1 + count)

// Callbacks, names ----------------------------------------------------------------------------------------------------

async function receiversOf(sql: Sql, { scope, most = MOST_LINES }: AskingPart): Promise<Attention[]> {
  const receivers = await store.selectPausedReceivers(sql, scope, most)
  return receivers.map(({ companyId, companyName, ...receiver }) => ({
    kind: 'receiver',
    company: { companyId, name: companyName },
    ...receiver,
  }))
}

const REFUSED_DAYS = 7

async function refusedOf(sql: Sql, { scope, days, most = MOST_LINES }: AskingPart): Promise<Attention[]> {
  const since = new Date(days.now.getTime() - REFUSED_DAYS * DAY_MS)
  const names = await store.selectRefusedNames(sql, scope, since, most)
  return names.map(({ companyId, companyName, ...name }) => ({
    kind: 'refused',
    company: { companyId, name: companyName },
    ...name,
  }))
}

async function reviewOf(sql: Sql): Promise<Attention[]> {
  const [counts] = await store.countInReview(sql)
  return counts!.senders + counts!.templates > 0 ? [{ kind: 'review', ...counts! }] : []
}
