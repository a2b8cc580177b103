import { createRoute } from '@tanstack/react-router'
import { sortIn } from '../search-values.ts'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'

const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: sortIn,
  beforeLoad: needs('people.see'),
  ...pageOf(() => import('./people-page.tsx'), 'PeoplePage'),
})

export const peopleRoutes = [peopleRoute] as const
