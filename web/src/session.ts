import { QueryClient, queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import type { SessionAnswer, SignedInPerson } from '../../src/http/cabinet/sign-in/session.ts'
import { ask, isSignedOut, NoAnswer, ServerError, type Wire } from './api.ts'

/** The person who is signed in. */
export type Me = Wire<SignedInPerson>
export type Right = Me['rights'][number]

const MOST_RETRIES = 2
const CHECK_EVERY_MS = 60_000

/** The action when a request reports the end of the session. */
const whenSignedOut: { act: () => void } = { act: () => {} }
export const onSignedOut = (act: () => void) => {
  whenSignedOut.act = act
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5000, retry: (failures, error) => failures < MOST_RETRIES && mayPass(error) },
    // Without a connection a change fails at once, because a person does not expect it to run later.
    mutations: { networkMode: 'always' },
  },
})

const leaveIfSignedOut = (error: unknown) => {
  if (isSignedOut(error)) whenSignedOut.act()
}
queryClient.getQueryCache().config.onError = leaveIfSignedOut
queryClient.getMutationCache().config.onError = leaveIfSignedOut

/** Only errors that may be temporary are retried. */
export const mayPass = (error: unknown) =>
  error instanceof NoAnswer || (error instanceof ServerError && error.status >= 500)

/** Runs every minute, so that an open page notices the end of its session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => ask<SessionAnswer>('GET', '/session'),
  staleTime: CHECK_EVERY_MS,
  refetchInterval: CHECK_EVERY_MS,
})

export const useMe = (): Me => useSuspenseQuery(sessionQuery).data.person

export const useRefreshMe = () => {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

/** The name of a person, or the login if there is no name. */
export const nameOf = ({ name, login }: { name: string; login: string }) => name.trim() || login
