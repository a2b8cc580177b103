import { queryOptions } from '@tanstack/react-query'
import type { ListedPerson, PeopleAnswer } from '../../../src/http/cabinet/people.ts'
import { ask, type Wire } from '../api.ts'

export type Colleague = Wire<ListedPerson>
export type Roles = Wire<PeopleAnswer>['roles']

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: () => ask<PeopleAnswer>('GET', '/people'),
})
