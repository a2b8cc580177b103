import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { editOf } from '../parts/list-search.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { nameSearchOf, newNameSearchOf } from './search.ts'

const sendersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders',
  validateSearch: nameSearchOf,
  beforeLoad: needs('settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./senders-page.tsx')), 'SendersPage'),
})

const newSenderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/new',
  validateSearch: newNameSearchOf,
  beforeLoad: needs('settings.change'),
  component: lazyRouteComponent(() => withWords('company', import('./new-sender-page.tsx')), 'NewSenderPage'),
})

const senderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/$senderId',
  params: idIn('senderId'),
  validateSearch: editOf,
  beforeLoad: needs('settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./sender-page.tsx')), 'SenderPage'),
})

export const sendersRoutes = [sendersRoute, newSenderRoute, senderRoute] as const
