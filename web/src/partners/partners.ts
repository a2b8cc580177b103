import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { partnerStates } from '../../../src/domain/partners/partner.ts'
import type { PartnersAnswer, ShownPartner } from '../../../src/http/cabinet/partners.ts'
import { ask, type Wire } from '../api.ts'

export type Partner = Wire<ShownPartner>

/** What the list shows, as it stands in the address. */
export type PartnersSearch = {
  search?: string | undefined
  state?: (typeof partnerStates)[number] | undefined
  after?: number | undefined
  before?: number | undefined
}

/** `undefined` removes what is wrong. */
export const partnersSearchOf = (search: Record<string, unknown>): PartnersSearch => ({
  // The address writes a text of digits as a number.
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
