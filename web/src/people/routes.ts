import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'

const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  beforeLoad: needs('people.see'),
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
})

export const peopleRoutes = [peopleRoute] as const
