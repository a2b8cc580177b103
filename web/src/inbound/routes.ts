import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readInboundSearch, readTrialSearch } from './inbound.ts'

const inboundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound',
  validateSearch: readInboundSearch,
  beforeLoad: needs('traffic.see'),
  ...pageOf(() => withWords('company', import('./inbound-page.tsx')), 'InboundPage'),
})

const inboundRulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/rules',
  validateSearch: readTrialSearch,
  beforeLoad: needs('settings.see'),
  ...pageOf(() => withWords('company', import('./rules-page.tsx')), 'RulesPage'),
})

const inboundCentersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/centers',
  beforeLoad: needs('settings.see'),
  ...pageOf(() => withWords('company', import('./centers-page.tsx')), 'CentersPage'),
})

export const inboundRoutes = [inboundRoute, inboundRulesRoute, inboundCentersRoute] as const
