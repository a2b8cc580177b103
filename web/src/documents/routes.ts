import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { documentsSearchOf } from './documents.ts'

const documentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/documents',
  validateSearch: documentsSearchOf,
  beforeLoad: needs('settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./documents-page.tsx')), 'DocumentsPage'),
})

export const documentsRoutes = [documentsRoute] as const
