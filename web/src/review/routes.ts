import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { queueQuery, reviewSearchOf } from './review.ts'

const reviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/review',
  validateSearch: reviewSearchOf,
  beforeLoad: needs('review'),
  ...pageOf(
    () => withWords('company', import('./review-page.tsx')),
    'ReviewPage',
    () => [queueQuery],
  ),
})

export const reviewRoutes = [reviewRoute] as const
