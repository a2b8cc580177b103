import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'

const healthRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/health',
  beforeLoad: needs('health.see'),
  component: lazyRouteComponent(() => withWords('service', import('./health-page.tsx')), 'HealthPage'),
})

export const healthRoutes = [healthRoute] as const
