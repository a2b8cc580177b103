import { queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import type { ListedPerson, PeopleAnswer } from '../../../src/http/cabinet/companies/people.ts'
import { ask, type Wire } from '../api.ts'
import { useMe } from '../session.ts'

export type Colleague = Wire<ListedPerson>
export type Roles = Wire<PeopleAnswer>['roles']

export const PEOPLE = ['people'] as const

export const peopleQuery = (path: string) =>
  queryOptions({ queryKey: [...PEOPLE, path], queryFn: () => ask<PeopleAnswer>('GET', path) })

/** The partner of the open partner page. The address names only companies. */
export const PartnerOfPeople = createContext<number | undefined>(undefined)

/** The kind of the shown people: of the partner of the page, of the chosen company, else of the viewer. */
export function useKindOfPeople() {
  const partnerId = useContext(PartnerOfPeople)
  const { company } = useSearch({ from: '/shell' })
  const { kind } = useMe()
  if (partnerId !== undefined) return 'PARTNER'
  return company === undefined ? kind : 'COMPANY'
}

/**
 * The API path of the people of the partner of the page, of the chosen company, else of the viewer's own company or
 * partner.
 */
export function usePeoplePath() {
  const partnerId = useContext(PartnerOfPeople)
  const { company } = useSearch({ from: '/shell' })
  const ofCompany = company === undefined ? '' : `?companyId=${company}`
  const place = partnerId === undefined ? ofCompany : `?partnerId=${partnerId}`
  return (rest = '') => `/people${rest}${place}`
}
