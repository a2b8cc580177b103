import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readFilter } from './audit.ts'

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: readFilter,
  beforeLoad: needs('audit.see'),
  component: lazyRouteComponent(() => withWords('service', import('./audit-page.tsx')), 'AuditPage'),
})

export const auditRoutes = [auditRoute] as const
