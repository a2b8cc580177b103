import { expect, test } from 'vitest'
import { roles } from '../../src/domain/people/person.ts'
import { rightsOf } from '../../src/domain/people/rights.ts'
import { pagesWithoutSession } from '../../src/http/cabinet/pages.ts'
import { invitationRoutes } from './invitation/routes.ts'
import { firstPageOf, pagesOf } from './navigation.ts'
import { signInRoutes } from './sign-in/routes.ts'

const everyone = [
  ...roles.COMPANY.map(role => ({ kind: 'COMPANY' as const, role })),
  ...roles.PARTNER.map(role => ({ kind: 'PARTNER' as const, role })),
  ...roles.STAFF.map(role => ({ kind: 'STAFF' as const, role })),
]

test('the people page is shown only to people who may see people', () => {
  const shown = everyone.filter(person =>
    pagesOf({ kind: person.kind, rights: rightsOf(person) }).some(({ to }) => to === '/people'),
  )
  expect(shown.map(({ kind, role }) => `${kind} ${role}`)).toEqual([
    'COMPANY owner',
    'PARTNER owner',
    'STAFF admin',
    'STAFF support',
  ])
})

test('every person has a first page', () => {
  for (const person of everyone) expect(firstPageOf({ kind: person.kind, rights: rightsOf(person) })).toMatch(/^\//)
})

test('the server knows the pages that do not ask for the session', () => {
  const paths = [...signInRoutes, ...invitationRoutes].map(({ options }) =>
    'path' in options ? options.path : undefined,
  )
  expect(pagesWithoutSession.map(page => `/${page}`)).toEqual(paths)
})
