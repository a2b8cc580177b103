import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { countsQuery, messagesQuery } from './messages.ts'
import { readSearch } from './search.ts'

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: readSearch,
  beforeLoad: needs('traffic.see'),
  ...pageOf(
    () => import('./list/messages-page.tsx'),
    'MessagesPage',
    ({ chosen, search }) => [messagesQuery(readSearch(search), chosen), countsQuery(chosen)],
  ),
})

const messageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$uuid',
  beforeLoad: needs('traffic.see'),
  ...pageOf(() => import('./message/message-page.tsx'), 'MessagePage'),
})

export const messagesRoutes = [messagesRoute, messageRoute] as const
