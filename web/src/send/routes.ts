import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'

/** `to` begins a message to that number; `sent` shows what becomes of one. */
const sendRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/send',
  validateSearch: (search: Record<string, unknown>): { to?: string | undefined; sent?: string | undefined } => ({
    to: search.to === undefined ? undefined : String(search.to),
    sent: typeof search.sent === 'string' ? search.sent : undefined,
  }),
  beforeLoad: needs('traffic.send'),
  component: lazyRouteComponent(() => import('./send-page.tsx'), 'SendPage'),
})

export const sendRoutes = [sendRoute] as const
