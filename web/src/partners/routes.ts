import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { partnersSearchOf } from './partners.ts'

const partnersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners',
  validateSearch: partnersSearchOf,
  beforeLoad: needs('partners.see'),
  ...pageOf(() => withWords('company', import('./partners-page.tsx')), 'PartnersPage'),
})

const partnerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners/$partnerId',
  params: idIn('partnerId'),
  beforeLoad: needs('partners.see'),
  ...pageOf(() => withWords('company', import('./partner-page.tsx')), 'PartnerPage'),
})

export const partnersRoutes = [partnersRoute, partnerRoute] as const
