import { createRoute } from '@tanstack/react-router'
import { editOf } from '../parts/lists/list-search.ts'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { nameSearchOf, newNameSearchOf } from './search.ts'
import { namesQuery } from './senders.ts'

const sendersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders',
  validateSearch: nameSearchOf,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./senders-page.tsx')),
    'SendersPage',
    ofOneCompany((companyId, { search }) => [namesQuery(companyId, nameSearchOf(search))]),
  ),
})

const newSenderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/new',
  validateSearch: newNameSearchOf,
  beforeLoad: needs('settings.change'),
  ...pageOf(() => withWords('company', import('./new-sender-page.tsx')), 'NewSenderPage'),
})

const senderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/$senderId',
  params: idIn('senderId'),
  validateSearch: editOf,
  beforeLoad: needs('settings.see'),
  ...pageOf(() => withWords('company', import('./sender-page.tsx')), 'SenderPage'),
})

export const sendersRoutes = [sendersRoute, newSenderRoute, senderRoute] as const
