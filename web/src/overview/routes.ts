import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { overviewQuery } from './overview.ts'

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => import('./overview-page.tsx'),
    'OverviewPage',
    ({ chosen }) => [overviewQuery(chosen)],
  ),
})

export const overviewRoutes = [overviewRoute] as const
