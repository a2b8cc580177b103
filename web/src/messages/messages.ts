import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { Language } from '../../../src/domain/people/person.ts'
import type {
  IncomingAnswer,
  ListedMessage,
  MessageAnswer,
  MessageMoment,
  MessageStep,
  MessagesAnswer,
  RecentCounts,
} from '../../../src/http/cabinet/messages/messages.ts'
import { ask, type Wire } from '../api.ts'
import { zoneOfReader } from '../words/intl.ts'
import { type MessageSearch, queryOf, withoutOpen } from './search.ts'

export type Found = Wire<ListedMessage>
export type Page = Wire<MessagesAnswer>
export type Life = Wire<MessageAnswer>
export type Step = Wire<MessageStep>
export type Moment = Wire<MessageMoment>

const MESSAGE = 'message'

/** Pages of found messages. Each page begins after the last key of the previous page. */
export const messagesQuery = (search: MessageSearch, companyId: number | undefined) =>
  infiniteQueryOptions({
    queryKey: ['messages', companyId, withoutOpen(search)],
    queryFn: ({ pageParam }) =>
      ask<MessagesAnswer>('GET', `/messages?${queryOf(search, companyId, pageParam, new Date())}`),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ older }: Page) => older ?? undefined,
    placeholderData: keepPreviousData,
  })

/** The found messages as a file, with times of the reader's zone and texts in the reader's language. */
export function reportAddress(search: MessageSearch, companyId: number | undefined, language: Language) {
  const reader = new URLSearchParams({ language, zone: zoneOfReader() })
  const query = `${queryOf(search, companyId, undefined, new Date())}&${reader}`
  return new URL(`api/messages/report?${query}`, document.baseURI).href
}

/** The counts of the frequent searches. Null if counting took too long. */
export const countsQuery = (companyId: number | undefined) =>
  queryOptions({
    queryKey: ['messages', 'counts', companyId],
    queryFn: () => ask<{ counts: RecentCounts | null }>('GET', `/messages/counts${ofCompany(companyId)}`),
    staleTime: 15_000,
    retry: false,
  })

/** Inbound messages that match the same words or number. The page asks for them after the search is answered. */
export const incomingQuery = (search: MessageSearch, companyId: number | undefined, isAnswered: boolean) =>
  queryOptions({
    queryKey: ['messages', 'incoming', companyId, search.q, search.period, search.from, search.to],
    queryFn: () => ask<IncomingAnswer>('GET', `/messages/incoming?${incomingOf(search, companyId)}`),
    enabled: isAnswered && search.q !== undefined,
    retry: false,
  })

const incomingOf = ({ q, period, from, to }: MessageSearch, companyId: number | undefined) =>
  queryOf({ q, period, from, to }, companyId, undefined, new Date())

export const lifeQuery = (uuid: string, companyId: number | undefined) =>
  queryOptions({
    queryKey: [MESSAGE, uuid, companyId],
    queryFn: () => ask<MessageAnswer>('GET', pathOf(uuid, '', companyId)),
  })

export const LIVES = [MESSAGE] as const

export const pathOf = (uuid: string, rest: string, companyId: number | undefined) =>
  `/messages/${uuid}${rest}${ofCompany(companyId)}`

const ofCompany = (companyId: number | undefined) => (companyId === undefined ? '' : `?companyId=${companyId}`)

/** The company that is chosen in the header. Undefined means all companies of the viewer. */
export const useChosenCompany = () => useSearch({ from: '/shell' }).company
