import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { documentsQuery, documentsSearchOf } from './documents.ts'

const documentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/documents',
  validateSearch: documentsSearchOf,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./documents-page.tsx')),
    'DocumentsPage',
    ofOneCompany(companyId => [documentsQuery(companyId)]),
  ),
})

export const documentsRoutes = [documentsRoute] as const
