import { createRoute } from '@tanstack/react-router'
import { sortIn } from '../search-values.ts'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readCallbackSearch, settingsQuery } from './callbacks/callbacks.ts'
import { keysQuery } from './keys/keys.ts'
import { readRequestSearch } from './requests/requests.ts'

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  validateSearch: sortIn,
  beforeLoad: needs('developers.see'),
  ...pageOf(
    () => withWords('developers', import('./keys/keys-page.tsx')),
    'KeysPage',
    ofOneCompany(companyId => [keysQuery(companyId)]),
  ),
})

const callbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/callbacks',
  validateSearch: readCallbackSearch,
  beforeLoad: needs('developers.see'),
  ...pageOf(
    () => withWords('developers', import('./callbacks/callbacks-page.tsx')),
    'CallbacksPage',
    ofOneCompany(companyId => [settingsQuery(companyId)]),
  ),
})

const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/requests',
  validateSearch: readRequestSearch,
  beforeLoad: needs('developers.see'),
  ...pageOf(() => withWords('developers', import('./requests/requests-page.tsx')), 'RequestsPage'),
})

export const developersRoutes = [keysRoute, callbacksRoute, requestsRoute] as const
