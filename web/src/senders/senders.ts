import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  FeesAnswer,
  ListedName,
  ListedRegistration,
  NamesAnswer,
  SenderPageAnswer,
} from '../../../src/http/cabinet/senders/senders.ts'
import { ask, type Wire } from '../api.ts'
import { queryOf } from '../parts/lists/list-search.ts'
import type { NameSearch } from './search.ts'

export type Name = Wire<ListedName>
export type Registration = Wire<ListedRegistration>
export type SenderPageData = Wire<SenderPageAnswer>

export const SENDERS = ['senders'] as const

export const namesQuery = (companyId: number, search: NameSearch) =>
  queryOptions({
    queryKey: [...SENDERS, 'list', companyId, search],
    queryFn: () => ask<NamesAnswer>('GET', `/senders?${queryOf(companyId, search)}`),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

export const senderQuery = (companyId: number, senderId: number) =>
  queryOptions({
    queryKey: [...SENDERS, companyId, senderId],
    queryFn: () => ask<SenderPageAnswer>('GET', `/senders/${senderId}?companyId=${companyId}`),
    refetchInterval: 60_000,
  })

export const feesQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...SENDERS, 'fees', companyId],
    queryFn: () => ask<FeesAnswer>('GET', `/senders/fees?companyId=${companyId}`),
  })

/** Whether one registration is valid for every operator, or for every foreign number. */
export const servesAll = ({ channelType }: { channelType: string }, { isInternational }: Registration) =>
  channelType !== 'SMS' || isInternational

/** The most important registration of an operator: the active one, else the one in review, else the newest. */
export function bestOf(registrations: Registration[]): Registration | undefined {
  const rank = ({ status }: Registration) =>
    status === 'APPROVED' ? 0 : status === 'DENIED' || status === 'CLOSED' ? 2 : 1
  return registrations.toSorted((a, b) => rank(a) - rank(b) || b.senderId - a.senderId)[0]
}
