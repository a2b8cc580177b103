import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { inboundQuery, readInboundSearch, readTrialSearch, rulesQuery } from './inbound.ts'

const inboundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound',
  validateSearch: readInboundSearch,
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => withWords('company', import('./inbound-page.tsx')),
    'InboundPage',
    ofOneCompany((companyId, { search }) => [inboundQuery(companyId, readInboundSearch(search))]),
  ),
})

const inboundRulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/rules',
  validateSearch: readTrialSearch,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./rules-page.tsx')),
    'RulesPage',
    ofOneCompany(companyId => [rulesQuery(companyId)]),
  ),
})

const inboundCentersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/centers',
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./centers-page.tsx')),
    'CentersPage',
    ofOneCompany(companyId => [rulesQuery(companyId)]),
  ),
})

export const inboundRoutes = [inboundRoute, inboundRulesRoute, inboundCentersRoute] as const
