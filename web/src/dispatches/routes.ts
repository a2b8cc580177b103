import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { dispatchQuery, listQuery, listSearchOf } from './dispatches.ts'

const dispatchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches',
  validateSearch: listSearchOf,
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => import('./list/dispatches-page.tsx'),
    'DispatchesPage',
    ({ chosen, search }) => [listQuery(chosen, listSearchOf(search))],
  ),
})

const dispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/$dispatchId',
  params: idIn('dispatchId'),
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => import('./dispatch/dispatch-page.tsx'),
    'DispatchPage',
    ({ params }) => [dispatchQuery(Number(params.dispatchId))],
  ),
})

export const dispatchesRoutes = [dispatchesRoute, dispatchRoute] as const
