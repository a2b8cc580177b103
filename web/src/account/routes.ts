import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { shellRoute } from '../shell/shell-route.ts'

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  ...pageOf(() => import('./account-page.tsx'), 'AccountPage'),
})

export const accountRoutes = [accountRoute] as const
