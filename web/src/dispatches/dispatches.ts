import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type ClientChannel, channelTypes } from '../../../src/base/channel-types.ts'
import { type DispatchStatus, dispatchStatuses } from '../../../src/domain/dispatches/dispatch.ts'
import type {
  BreakdownAnswer,
  DispatchAnswer,
  DispatchesAnswer,
  ListedDispatch,
} from '../../../src/http/cabinet/dispatches/dispatches.ts'
import { ask, type Wire } from '../api.ts'

export type Listed = Wire<ListedDispatch>
export type Whole = Wire<DispatchAnswer>
export type Breakdown = Wire<BreakdownAnswer>

export const periods = ['day', 'week', 'month'] as const
export type Period = (typeof periods)[number]

/** The filters of the list in the address. */
export type ListSearch = {
  status?: DispatchStatus | undefined
  channel?: ClientChannel | undefined
  search?: string | undefined
  period?: Period | undefined
  olderThan?: number | undefined
  newerThan?: number | undefined
}

/** `undefined` removes an invalid value from the address. */
export const listSearchOf = (search: Record<string, unknown>): ListSearch => ({
  status: oneOf(dispatchStatuses, search.status),
  channel: oneOf(channelTypes, search.channel),
  // The router reads a text of digits from the address as a number.
  search: search.search === undefined || search.search === '' ? undefined : String(search.search).slice(0, 100),
  period: oneOf(periods, search.period),
  olderThan: idOf(search.olderThan),
  newerThan: idOf(search.newerThan),
})

const oneOf = <T extends string>(values: readonly T[], value: unknown) => values.find(known => known === value)
const idOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined)

export const DISPATCHES = ['dispatches'] as const

export const listQuery = (companyId: number | undefined, { period, ...filters }: ListSearch) =>
  queryOptions({
    queryKey: [...DISPATCHES, 'list', companyId, period, filters],
    queryFn: () => {
      const given = Object.entries({ companyId, from: period && beginningOf(period), ...filters })
      const query = new URLSearchParams(
        given.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
      )
      return ask<DispatchesAnswer>('GET', `/dispatches?${query}`)
    },
    placeholderData: keepPreviousData,
    refetchInterval: 30_000, // for new dispatches; the live events update the shown dispatches
  })

const DAYS_BACK: Record<Period, number> = { day: 0, week: 6, month: 29 }

function beginningOf(period: Period): string {
  const day = new Date()
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - DAYS_BACK[period])
  return day.toISOString()
}

const WAITS_EVERY_MS = 10_000

export const dispatchQuery = (dispatchId: number) =>
  queryOptions({
    queryKey: [...DISPATCHES, dispatchId],
    queryFn: () => ask<DispatchAnswer>('GET', `/dispatches/${dispatchId}`),
    refetchInterval: ({ state }) => state.data?.status === 'STARTED' && WAITS_EVERY_MS,
  })

/** The server reads every message for it. The page asks when it opens, when the status changes, and on request. */
export const breakdownQuery = (dispatchId: number, status: DispatchStatus) =>
  queryOptions({
    queryKey: ['breakdown', dispatchId, status],
    queryFn: () => ask<BreakdownAnswer>('GET', `/dispatches/${dispatchId}/breakdown`),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

export const totalOf = ({ waiting, sent, delivered, failed }: Omit<Counts, 'unsent'>) =>
  waiting + sent + delivered + failed

export type Counts = Pick<Listed, 'waiting' | 'sent' | 'delivered' | 'failed' | 'unsent'>

/** Messages that were submitted, or failed before submission. */
export const handedOf = (counts: Counts) => totalOf(counts) - counts.waiting
