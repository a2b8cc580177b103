import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { blacklistQuery, readBlacklistSearch } from './blacklist.ts'

const blacklistRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/blacklist',
  validateSearch: readBlacklistSearch,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./blacklist-page.tsx')),
    'BlacklistPage',
    ofOneCompany((companyId, { search }) => [blacklistQuery(companyId, readBlacklistSearch(search).q ?? '')]),
  ),
})

export const blacklistRoutes = [blacklistRoute] as const
