import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { Language } from '../../../src/domain/people/person.ts'
import type {
  ListedMessage,
  MessageAnswer,
  MessageMoment,
  MessageStep,
  MessagesAnswer,
} from '../../../src/http/cabinet/messages.ts'
import { ask, type Wire } from '../api.ts'
import { zoneOfReader } from '../words/intl.ts'
import { type MessageSearch, queryOf, withoutOpen } from './search.ts'

export type Found = Wire<ListedMessage>
export type Page = Wire<MessagesAnswer>
export type Life = Wire<MessageAnswer>
export type Step = Wire<MessageStep>
export type Moment = Wire<MessageMoment>

const MESSAGE = 'message'

/** Pages of what is found, each asked for by the key that the one before ended with. */
export const messagesQuery = (search: MessageSearch, companyId: number | undefined) =>
  infiniteQueryOptions({
    queryKey: ['messages', companyId, withoutOpen(search)],
    queryFn: ({ pageParam }) =>
      ask<MessagesAnswer>('GET', `/messages?${queryOf(search, companyId, pageParam, new Date())}`),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ older }: Page) => older ?? undefined,
    placeholderData: keepPreviousData,
  })

/** What the search finds, as a file: on the reader's clock and in its language. */
export function reportAddress(search: MessageSearch, companyId: number | undefined, language: Language) {
  const reader = new URLSearchParams({ language, zone: zoneOfReader() })
  const query = `${queryOf(search, companyId, undefined, new Date())}&${reader}`
  return new URL(`api/messages/report?${query}`, document.baseURI).href
}

export const lifeQuery = (uuid: string, companyId: number | undefined) =>
  queryOptions({
    queryKey: [MESSAGE, uuid, companyId],
    queryFn: () => ask<MessageAnswer>('GET', pathOf(uuid, '', companyId)),
  })

export const LIVES = [MESSAGE] as const

export const pathOf = (uuid: string, rest: string, companyId: number | undefined) =>
  `/messages/${uuid}${rest}${companyId === undefined ? '' : `?companyId=${companyId}`}`

/** The company that the header has chosen; undefined: all that the viewer looks after. */
export const useChosenCompany = () => useSearch({ from: '/shell' }).company
