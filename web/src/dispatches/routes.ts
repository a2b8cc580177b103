import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { listSearchOf } from './dispatches.ts'

const dispatchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches',
  validateSearch: listSearchOf,
  beforeLoad: needs('traffic.see'),
  component: lazyRouteComponent(() => import('./dispatches-page.tsx'), 'DispatchesPage'),
})

const dispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/$dispatchId',
  params: idIn('dispatchId'),
  beforeLoad: needs('traffic.see'),
  component: lazyRouteComponent(() => import('./dispatch-page.tsx'), 'DispatchPage'),
})

export const dispatchesRoutes = [dispatchesRoute, dispatchRoute] as const
