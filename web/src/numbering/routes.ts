import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { numberingQuery } from './numbering.ts'
import { readNumbering } from './search.ts'

const numberingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/numbering',
  validateSearch: readNumbering,
  beforeLoad: needs('numbering.see'),
  ...pageOf(
    () => withWords('service', import('./numbering-page.tsx')),
    'NumberingPage',
    () => [numberingQuery],
  ),
})

export const numberingRoutes = [numberingRoute] as const
