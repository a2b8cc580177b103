import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { clicksQuery, linksQuery, readLinkSearch } from './links.ts'

const linksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/links',
  validateSearch: readLinkSearch,
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => withWords('company', import('./links-page.tsx')),
    'LinksPage',
    ofOneCompany((companyId, { search }) => [linksQuery(companyId, readLinkSearch(search)), clicksQuery(companyId)]),
  ),
})

export const linksRoutes = [linksRoute] as const
