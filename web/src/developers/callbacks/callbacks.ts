import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type {
  CallbackAnswer,
  CallbackLogAnswer,
  CallbackSettings,
  LogEntry,
  ShownReceiver,
  TestAnswer,
} from '../../../../src/http/cabinet/developers/callback-log.ts'
import { ask, type Wire } from '../../api.ts'
import { dayIn, integerIn, startOfDay, textIn } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'

export type Logged = Wire<LogEntry>
export type Receiver = Wire<ShownReceiver>
export type Opened = Wire<CallbackAnswer>
export type Settings = Wire<CallbackSettings>

export const statuses = ['WAITING', 'DELIVERED', 'EXPIRED'] as const
export type CallbackStatus = (typeof statuses)[number]

/** The filters in the URL. The day is in the time zone of the reader. */
export type CallbackSearch = {
  status?: CallbackStatus | undefined
  day?: string | undefined
  message?: string | undefined
  open?: number | undefined
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const readCallbackSearch = (search: Record<string, unknown>): CallbackSearch => ({
  status: statuses.find(status => status === search.status),
  day: dayIn(search.day),
  message: textIn(search.message, 64),
  open: integerIn(search.open),
})

/** The filters in the URL, and a function that changes them. */
export function useCallbackSearch() {
  const search = useSearch({ from: '/shell/developers/callbacks' })
  const navigate = useNavigate()
  const change = (changed: CallbackSearch) =>
    void navigate({ to: '.', search: before => ({ ...before, open: undefined, ...changed }), replace: true })
  return { search, change }
}

export const CALLBACKS = ['callbacks'] as const
const EVERY_MS = 5000

export const callbackPath = (companyId: number, rest: string, query: Record<string, string | undefined> = {}) => {
  const given = Object.entries({ companyId: String(companyId), ...query })
  const pairs = given.filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `/callbacks${rest}?${new URLSearchParams(pairs)}`
}

export const settingsQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...CALLBACKS, 'settings', companyId],
    queryFn: () => ask<CallbackSettings>('GET', callbackPath(companyId, '/settings')),
    refetchInterval: EVERY_MS,
  })

/** The result of a search for a text that is no message id. */
const NOTHING: Wire<CallbackLogAnswer> = { entries: [], next: null, isUnsearched: false }

export const logQuery = (companyId: number, { status, day, message }: CallbackSearch) =>
  infiniteQueryOptions({
    queryKey: [...CALLBACKS, 'log', companyId, status, day, message],
    queryFn: async ({ pageParam }): Promise<Wire<CallbackLogAnswer>> => {
      if (message !== undefined && !UUID.test(message)) return NOTHING
      const period = day === undefined ? {} : { from: startOfDay(day, 0), to: startOfDay(day, 1) }
      const query = { status, message, before: pageParam || undefined, ...period }
      return ask<CallbackLogAnswer>('GET', callbackPath(companyId, '', query))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  })

export const callbackQuery = (companyId: number, callbackId: number) =>
  queryOptions({
    queryKey: [...CALLBACKS, 'open', companyId, callbackId],
    queryFn: () => ask<CallbackAnswer>('GET', callbackPath(companyId, `/${callbackId}`)),
    refetchInterval: EVERY_MS,
  })

const ASK_AGAIN_MS = 500

export const testQuery = (companyId: number, testId: number) =>
  queryOptions({
    queryKey: [...CALLBACKS, 'test', companyId, testId],
    queryFn: () => ask<TestAnswer>('GET', callbackPath(companyId, `/tests/${testId}`)),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === 'waiting' ? ASK_AGAIN_MS : false),
  })

/** Host and port of a URL. */
export const hostOf = (url: string) => URL.parse(url)?.host ?? url

/** Host, port and path, because a server may have several URLs for callbacks. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.host}${parsed.pathname}` : url
}

export const isRedirect = (statusCode: number) => statusCode >= 300 && statusCode < 400

/** Translates the reason why an attempt got no answer. An unknown reason is shown as it is. */
export function useErrorWords() {
  const { say } = useWords()
  return (error: string) => {
    const known = errors.find(([pattern]) => pattern.test(error))
    return known ? say(known[1]) : error
  }
}

const errors = [
  [/not allowed/, 'callbacks.error.network'],
  [/^connection refused/, 'callbacks.error.refused'],
  [/^connection closed/, 'callbacks.error.closed'],
  [/^no answer in time/, 'callbacks.error.timeout'],
  [/^host not found/, 'callbacks.error.name'],
  [/name servers/, 'callbacks.error.names'],
  [/^secure connection/, 'callbacks.error.secure'],
] as const satisfies [RegExp, Parameters<ReturnType<typeof useWords>['say']>[0]][]
