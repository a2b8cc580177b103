import { createRoute } from '@tanstack/react-router'
import { editOf } from '../parts/lists/list-search.ts'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { templateSearchOf } from './search.ts'
import { templatesQuery } from './templates.ts'

const templatesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates',
  validateSearch: templateSearchOf,
  beforeLoad: needs('settings.see'),
  ...pageOf(
    () => withWords('company', import('./templates-page.tsx')),
    'TemplatesPage',
    ofOneCompany((companyId, { search }) => [templatesQuery(companyId, templateSearchOf(search))]),
  ),
})

const newTemplateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/new',
  beforeLoad: needs('settings.change'),
  ...pageOf(() => withWords('company', import('./new-template-page.tsx')), 'NewTemplatePage'),
})

const templateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/$templateId',
  params: idIn('templateId'),
  validateSearch: editOf,
  beforeLoad: needs('settings.see'),
  ...pageOf(() => withWords('company', import('./template-page.tsx')), 'TemplatePage'),
})

export const templatesRoutes = [templatesRoute, newTemplateRoute, templateRoute] as const
