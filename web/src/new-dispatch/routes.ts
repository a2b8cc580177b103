import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'

/** `step` is where the person is; the page shows an earlier one while something is missing. */
const newDispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/new',
  validateSearch: (search: Record<string, unknown>): { step?: 1 | 2 | 3 | 4 | undefined } => ({
    step: [1, 2, 3, 4].includes(Number(search.step)) ? (Number(search.step) as 1 | 2 | 3 | 4) : undefined,
  }),
  beforeLoad: needs('traffic.send'),
  ...pageOf(() => import('./new-dispatch-page.tsx'), 'NewDispatchPage'),
})

export const newDispatchRoutes = [newDispatchRoute] as const
