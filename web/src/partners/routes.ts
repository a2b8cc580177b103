import { createRoute } from '@tanstack/react-router'
import { peopleQuery } from '../people/people.ts'
import { sortIn } from '../search-values.ts'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { partnerQuery, partnersQuery, partnersSearchOf } from './partners.ts'

const partnersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners',
  validateSearch: partnersSearchOf,
  beforeLoad: needs('partners.see'),
  ...pageOf(
    () => withWords('company', import('./partners-page.tsx')),
    'PartnersPage',
    ({ search }) => [partnersQuery(partnersSearchOf(search))],
  ),
})

const partnerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners/$partnerId',
  params: idIn('partnerId'),
  validateSearch: sortIn,
  beforeLoad: needs('partners.see'),
  ...pageOf(
    () => withWords('company', import('./partner-page.tsx')),
    'PartnerPage',
    ({ params }) => [partnerQuery(Number(params.partnerId)), peopleQuery(`/people?partnerId=${params.partnerId}`)],
  ),
})

export const partnersRoutes = [partnersRoute, partnerRoute] as const
