import { queryOptions } from '@tanstack/react-query'
import type { SecondFactorAnswer, SessionsAnswer } from '../../../src/http/cabinet/sign-in/account.ts'
import { ask } from '../api.ts'

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: () => ask<SecondFactorAnswer>('GET', '/account/second-factor'),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => ask<SessionsAnswer>('GET', '/account/sessions'),
})
