import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { auditQuery, readFilter } from './audit.ts'

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: readFilter,
  beforeLoad: needs('audit.see'),
  ...pageOf(
    () => withWords('service', import('./audit-page.tsx')),
    'AuditPage',
    ({ chosen, search }) => [auditQuery(chosen, readFilter(search))],
  ),
})

export const auditRoutes = [auditRoute] as const
