import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  beforeLoad: needs('traffic.see'),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})

export const overviewRoutes = [overviewRoute] as const
