import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readCallbackSearch } from './callbacks/callbacks.ts'
import { readRequestSearch } from './requests/requests.ts'

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  beforeLoad: needs('developers.see'),
  ...pageOf(() => withWords('company', import('./keys/keys-page.tsx')), 'KeysPage'),
})

const callbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/callbacks',
  validateSearch: readCallbackSearch,
  beforeLoad: needs('developers.see'),
  ...pageOf(() => withWords('company', import('./callbacks/callbacks-page.tsx')), 'CallbacksPage'),
})

const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/requests',
  validateSearch: readRequestSearch,
  beforeLoad: needs('developers.see'),
  ...pageOf(() => withWords('company', import('./requests/requests-page.tsx')), 'RequestsPage'),
})

export const developersRoutes = [keysRoute, callbacksRoute, requestsRoute] as const
