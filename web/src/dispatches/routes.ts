import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { listSearchOf } from './dispatches.ts'

const dispatchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches',
  validateSearch: listSearchOf,
  beforeLoad: needs('traffic.see'),
  ...pageOf(() => import('./list/dispatches-page.tsx'), 'DispatchesPage'),
})

const dispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/$dispatchId',
  params: idIn('dispatchId'),
  beforeLoad: needs('traffic.see'),
  ...pageOf(() => import('./dispatch/dispatch-page.tsx'), 'DispatchPage'),
})

export const dispatchesRoutes = [dispatchesRoute, dispatchRoute] as const
