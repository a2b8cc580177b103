import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readNumbering } from './search.ts'

const numberingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/numbering',
  validateSearch: readNumbering,
  beforeLoad: needs('numbering.see'),
  component: lazyRouteComponent(() => withWords('service', import('./numbering-page.tsx')), 'NumberingPage'),
})

export const numberingRoutes = [numberingRoute] as const
