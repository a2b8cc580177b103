import { queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ListedPerson, PeopleAnswer } from '../../../src/http/cabinet/people.ts'
import { ask, type Wire } from '../api.ts'
import { useMe } from '../session.ts'

export type Colleague = Wire<ListedPerson>
export type Roles = Wire<PeopleAnswer>['roles']

export const PEOPLE = ['people'] as const

export const peopleQuery = (path: string) =>
  queryOptions({ queryKey: [...PEOPLE, path], queryFn: () => ask<PeopleAnswer>('GET', path) })

/** What kind of people are shown: of the chosen company, else the viewer's own kind. */
export function useKindOfPeople() {
  const { company } = useSearch({ from: '/shell' })
  const { kind } = useMe()
  return company === undefined ? kind : 'COMPANY'
}

/** Where the server keeps the people of the chosen company, else those of the viewer's own place. */
export function usePeoplePath() {
  const { company } = useSearch({ from: '/shell' })
  const place = company === undefined ? '' : `?companyId=${company}`
  return (rest = '') => `/people${rest}${place}`
}
