import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import type { BlacklistAnswer, ListedNumber } from '../../../src/http/cabinet/messages/blacklist.ts'
import { ask, type Wire } from '../api.ts'

export type Entry = Wire<ListedNumber>
export type Page = Wire<BlacklistAnswer>

/** `q`: a number or its first digits. */
export type BlacklistSearch = { q?: string | undefined }

/** The router parses values of the URL as JSON, so a text of digits arrives as a number. */
export const readBlacklistSearch = ({ q }: Record<string, unknown>): BlacklistSearch => ({
  q: typeof q === 'string' || typeof q === 'number' ? String(q).slice(0, 64) || undefined : undefined,
})

export const BLACKLIST = ['blacklist'] as const

export const blacklistQuery = (companyId: number, q: string) =>
  infiniteQueryOptions({
    queryKey: [...BLACKLIST, companyId, q],
    queryFn: ({ pageParam }) =>
      ask<BlacklistAnswer>(
        'GET',
        pathOf(companyId, '', { ...(q ? { q } : {}), ...(pageParam ? { after: pageParam } : {}) }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }: Page) => next ?? undefined,
    placeholderData: keepPreviousData,
  })

export const pathOf = (companyId: number, rest = '', query: Record<string, string> = {}) =>
  `/blacklist${rest}?${new URLSearchParams({ companyId: String(companyId), ...query })}`
