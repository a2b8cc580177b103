import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { healthQuery } from './health.ts'

const healthRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/health',
  beforeLoad: needs('health.see'),
  ...pageOf(
    () => withWords('service', import('./health-page.tsx')),
    'HealthPage',
    () => [healthQuery],
  ),
})

export const healthRoutes = [healthRoute] as const
