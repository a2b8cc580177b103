import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ChannelType } from '../../../src/base/channel-types.ts'
import type { Language } from '../../../src/domain/people/person.ts'
import type {
  CenterRow,
  InboundAnswer,
  InboundMessageRow,
  InboundRuleRow,
  RulesAnswer,
  TrialAnswer,
} from '../../../src/http/cabinet/messages/inbound.ts'
import { ask, type Wire } from '../api.ts'
import { boundsOfDays } from '../messages/search.ts'
import { dayIn, integerIn, textIn } from '../search-values.ts'
import { zoneOfReader } from '../words/intl.ts'

export type Message = Wire<InboundMessageRow>
export type Page = Wire<InboundAnswer>
export type Rule = Wire<InboundRuleRow>
export type Rules = Wire<RulesAnswer>
export type Center = Wire<CenterRow>
export type Trial = Wire<TrialAnswer>

/** The filters in the URL. */
export type InboundSearch = {
  q?: string | undefined
  center?: number | undefined
  period?: Period | undefined
  /** Days in the time zone of the reader. Both days are included. */
  from?: string | undefined
  to?: string | undefined
}

export const periods = ['hour', 'week', 'month', 'year'] as const
export type Period = (typeof periods)[number]
const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
const lengths: Record<Period, number> = { hour: HOUR_MS, week: 7 * DAY_MS, month: 30 * DAY_MS, year: 365 * DAY_MS }

export const readInboundSearch = ({ q, center, period, from, to }: Record<string, unknown>): InboundSearch => ({
  q: textIn(q, 200),
  center: integerIn(center),
  period: periods.find(known => known === period),
  from: dayIn(from),
  to: dayIn(to),
})

/** The message to test. Without a name no test runs. */
export type TrialSearch = {
  channel?: ChannelType | undefined
  name?: string | undefined
  from?: string | undefined
  text?: string | undefined
}

/** Channels on which subscribers can write. */
export const channels = ['WHATSAPP', 'SMS', 'VIBER', 'TELEGRAM', 'VK'] as const satisfies readonly ChannelType[]

export const readTrialSearch = (given: Record<string, unknown>): TrialSearch => ({
  channel: channels.find(channel => channel === given.channel),
  name: textIn(given.name, 100),
  from: textIn(given.from, 32),
  text: textIn(given.text, 1000),
})

export const INBOUND = ['inbound'] as const

export const inboundQuery = (companyId: number, search: InboundSearch) =>
  infiniteQueryOptions({
    queryKey: [...INBOUND, 'messages', companyId, search],
    queryFn: ({ pageParam }) =>
      ask<InboundAnswer>('GET', pathOf(companyId, '', { ...filtersOf(search), before: pageParam || undefined })),
    initialPageParam: '',
    getNextPageParam: ({ older }: Page) => older ?? undefined,
    placeholderData: keepPreviousData,
  })

/** The URL of the list as a file, in the time zone and the language of the reader. */
export function reportAddress(companyId: number, search: InboundSearch, language: Language) {
  const query = { ...filtersOf(search), language, zone: zoneOfReader() }
  return new URL(`api${pathOf(companyId, '/report', query)}`, document.baseURI).href
}

function filtersOf({ q, center, period, ...days }: InboundSearch) {
  const { from, to } = period ? { from: new Date(Date.now() - lengths[period]), to: undefined } : boundsOfDays(days)
  return { q, center: center?.toString(), from: from?.toISOString(), to: to?.toISOString() }
}

export const rulesQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...INBOUND, 'rules', companyId],
    queryFn: () => ask<RulesAnswer>('GET', pathOf(companyId, '/rules')),
  })

/** Its key begins with the key of the rules, so that the test runs again after a change of the rules. */
export const trialQuery = (companyId: number, { channel = 'WHATSAPP', name, from, text }: TrialSearch) =>
  queryOptions({
    queryKey: [...INBOUND, 'rules', companyId, 'trial', channel, name, from, text],
    queryFn: () => ask<TrialAnswer>('GET', pathOf(companyId, '/trial', { channel, name, from, text })),
    enabled: name !== undefined,
    placeholderData: keepPreviousData,
  })

export function pathOf(companyId: number, rest = '', query: Record<string, string | undefined> = {}) {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `/inbound${rest}?${new URLSearchParams([['companyId', String(companyId)], ...given])}`
}
