import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { partnerStates } from '../../../src/domain/partners/partner.ts'
import type { PartnersAnswer, ShownPartner } from '../../../src/http/cabinet/companies/partners.ts'
import { ask, type Wire } from '../api.ts'

export type Partner = Wire<ShownPartner>

/** The filters in the URL. */
export type PartnersSearch = {
  search?: string | undefined
  state?: (typeof partnerStates)[number] | undefined
  after?: number | undefined
  before?: number | undefined
}

/** An invalid value becomes `undefined`. */
export const partnersSearchOf = (search: Record<string, unknown>): PartnersSearch => ({
  // The router parses a text of digits as a number.
  search: search.search === undefined || search.search === '' ? undefined : String(search.search).slice(0, 100),
  state: partnerStates.find(state => state === search.state),
  after: idOf(search.after),
  before: idOf(search.before),
})

const idOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined)

export const PARTNERS = ['partners'] as const

export const partnersQuery = (search: PartnersSearch) =>
  queryOptions({
    queryKey: [...PARTNERS, 'list', search],
    queryFn: () => {
      const given = Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
      return ask<PartnersAnswer>('GET', `/partners?${new URLSearchParams(given)}`)
    },
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })

export const partnerQuery = (partnerId: number) =>
  queryOptions({
    queryKey: [...PARTNERS, partnerId],
    queryFn: () => ask<ShownPartner>('GET', `/partners/${partnerId}`),
    refetchInterval: 30_000,
  })
