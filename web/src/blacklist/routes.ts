import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readBlacklistSearch } from './blacklist.ts'

const blacklistRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/blacklist',
  validateSearch: readBlacklistSearch,
  beforeLoad: needs('settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./blacklist-page.tsx')), 'BlacklistPage'),
})

export const blacklistRoutes = [blacklistRoute] as const
