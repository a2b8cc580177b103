import { infiniteQueryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type {
  Method,
  RequestEntry,
  RequestLogAnswer,
  StatusClass,
} from '../../../../src/http/cabinet/developers/request-log.ts'
import { ask, type Wire } from '../../api.ts'

export type LoggedRequest = Wire<RequestEntry>
export type RequestPage = Wire<RequestLogAnswer>

export const statusClasses = ['refused', '2xx', '4xx', '5xx'] as const satisfies StatusClass[]
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies Method[]

/** The filters in the URL. */
export type RequestSearch = {
  status?: (typeof statusClasses)[number] | undefined
  key?: number | undefined
  method?: Method | undefined
  id?: string | undefined
  /** Only for staff without a chosen company. */
  partner?: number | undefined
}

/** An invalid value becomes `undefined`. */
export const readRequestSearch = (search: Record<string, unknown>): RequestSearch => ({
  status: statusClasses.find(known => known === search.status),
  key: Number.isSafeInteger(search.key) && Number(search.key) > 0 ? Number(search.key) : undefined,
  method: methods.find(known => known === search.method),
  partner: Number.isSafeInteger(search.partner) && Number(search.partner) > 0 ? Number(search.partner) : undefined,
  // The router parses a text of digits as a number.
  id: search.id === undefined || search.id === '' ? undefined : String(search.id).slice(0, 128),
})

/** The filters in the URL, and a function that changes them. */
export function useRequestSearch() {
  const { company, ...search } = useSearch({ from: '/shell/developers/requests' })
  const navigate = useNavigate()
  const change = (changed: RequestSearch) =>
    void navigate({ to: '.', search: before => ({ ...before, ...changed }), replace: true })
  return { search, change }
}

const EVERY_MS = 3000

/**
 * Refreshes only while just the first page is loaded, so that the list does not move while a person reads older
 * requests.
 */
export const requestsQuery = (companyId: number | undefined, { status, key, method, id, partner }: RequestSearch) =>
  infiniteQueryOptions({
    queryKey: ['requests', companyId, status, key, method, id, partner],
    queryFn: ({ pageParam }) => {
      const partnerId = companyId === undefined ? partner : undefined
      const given = { companyId, partnerId, status, key, method, requestId: id, before: pageParam || undefined }
      const pairs = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
      return ask<RequestLogAnswer>('GET', `/requests?${new URLSearchParams(pairs)}`)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  })

/**
 * The requests, and the minutes in which further requests were only counted. Such a minute follows its oldest request.
 */
export function rowsOf(pages: RequestPage[]) {
  const requests = pages.flatMap(page => page.requests)
  const unlisted = new Map(pages.flatMap(page => page.unlisted).map(one => [minuteOf(one.minute), one.unlisted]))
  return requests.map((request, place) => {
    const next = requests[place + 1]
    const isLast = next === undefined || minuteOf(next.at) !== minuteOf(request.at)
    return { request, unlisted: isLast ? unlisted.get(minuteOf(request.at)) : undefined }
  })
}

const minuteOf = (at: string) => at.slice(0, 16)
