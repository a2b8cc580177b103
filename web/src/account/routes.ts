import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { shellRoute } from '../shell/shell-route.ts'
import { secondFactorQuery, sessionsQuery } from './account.ts'

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  ...pageOf(
    () => import('./account-page.tsx'),
    'AccountPage',
    () => [secondFactorQuery, sessionsQuery],
  ),
})

export const accountRoutes = [accountRoute] as const
