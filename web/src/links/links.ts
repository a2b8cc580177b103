import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  ClickedDispatchesAnswer,
  ClicksAnswer,
  LinkAnswer,
  LinkRow,
  LinksAnswer,
} from '../../../src/http/cabinet/messages/links.ts'
import { ask, type Wire } from '../api.ts'
import { integerIn, textIn } from '../search-values.ts'

export type ShortLink = Wire<LinkRow>
export type Page = Wire<LinksAnswer>

/** The filters in the URL. `open` is the code of the link in the dialog. */
export type LinkSearch = { q?: string | undefined; dispatch?: number | undefined; open?: string | undefined }

export const readLinkSearch = ({ q, dispatch, open }: Record<string, unknown>): LinkSearch => ({
  q: textIn(q, 200),
  dispatch: integerIn(dispatch),
  open: textIn(open, 32),
})

export const linksQuery = (companyId: number, { q, dispatch }: LinkSearch) =>
  infiniteQueryOptions({
    queryKey: ['links', companyId, q, dispatch],
    queryFn: ({ pageParam }) =>
      ask<LinksAnswer>(
        'GET',
        pathOf(companyId, '', { q, dispatch: dispatch?.toString(), before: pageParam || undefined }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ older }: Page) => older ?? undefined,
    placeholderData: keepPreviousData,
  })

export const clicksQuery = (companyId: number) =>
  queryOptions({
    queryKey: ['links', companyId, 'clicks'],
    queryFn: () => ask<ClicksAnswer>('GET', pathOf(companyId, '/clicks')),
  })

export type ClickedDispatch = Wire<ClickedDispatchesAnswer>['items'][number]

export const clickedDispatchesQuery = (companyId: number) =>
  infiniteQueryOptions({
    queryKey: ['links', companyId, 'dispatches'],
    queryFn: ({ pageParam }) =>
      ask<ClickedDispatchesAnswer>(
        'GET',
        pathOf(companyId, '/dispatches', { before: pageParam ? String(pageParam) : undefined }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ older }: Wire<ClickedDispatchesAnswer>) => older ?? undefined,
  })

export const linkQuery = (companyId: number, code: string) =>
  queryOptions({
    queryKey: ['links', companyId, 'link', code],
    queryFn: () => ask<LinkAnswer>('GET', pathOf(companyId, `/${encodeURIComponent(code)}`)),
  })

function pathOf(companyId: number, rest: string, query: Record<string, string | undefined> = {}) {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `/links${rest}?${new URLSearchParams([['companyId', String(companyId)], ...given])}`
}
