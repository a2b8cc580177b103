import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readLinkSearch } from './links.ts'

const linksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/links',
  validateSearch: readLinkSearch,
  beforeLoad: needs('traffic.see'),
  ...pageOf(() => withWords('company', import('./links-page.tsx')), 'LinksPage'),
})

export const linksRoutes = [linksRoute] as const
