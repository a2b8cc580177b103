import { queryOptions } from '@tanstack/react-query'
import type { OfferAnswer } from '../../../src/http/cabinet/dispatches/dispatch-choices.ts'
import { ask } from '../api.ts'

export const placeOf = (companyId: number | undefined) => (companyId === undefined ? '' : `?companyId=${companyId}`)

/** The choices of a company. The last step asks for them again, because the budget changes. */
export const offerQuery = (companyId: number | undefined) =>
  queryOptions({
    queryKey: ['new-dispatch', companyId],
    queryFn: () => ask<OfferAnswer>('GET', `/new-dispatch${placeOf(companyId)}`),
    staleTime: 15_000,
  })
