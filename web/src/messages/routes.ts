import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { readSearch } from './search.ts'

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: readSearch,
  beforeLoad: needs('traffic.see'),
  component: lazyRouteComponent(() => import('./messages-page.tsx'), 'MessagesPage'),
})

const messageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$uuid',
  beforeLoad: needs('traffic.see'),
  component: lazyRouteComponent(() => import('./message-page.tsx'), 'MessagePage'),
})

export const messagesRoutes = [messagesRoute, messageRoute] as const
