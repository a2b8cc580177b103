import { createRoute, redirect } from '@tanstack/react-router'
import { overviewQuery } from '../overview/overview.ts'
import { pageOf } from '../shell/page.ts'
import { idIn, requireRight, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { companiesSearchOf, companyQuery, listQuery } from './companies.ts'

/** The list shows all companies, also while one company is chosen. */
const companiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies',
  validateSearch: companiesSearchOf,
  beforeLoad: ({ context, search }) => {
    requireRight(context.me, 'companies.see')
    if (search.company === undefined) return
    throw redirect({ to: '/companies', search: { ...search, company: undefined }, replace: true })
  },
  ...pageOf(
    () => withWords('company', import('./companies-page.tsx')),
    'CompaniesPage',
    ({ search }) => [listQuery(companiesSearchOf(search)), overviewQuery(undefined)],
  ),
})

/** Opening the page of a company also chooses this company for the other pages. */
const companyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies/$companyId',
  params: idIn('companyId'),
  beforeLoad: ({ context, search, params }) => {
    requireRight(context.me, 'companies.see')
    const { companyId: company } = params
    if (search.company === company || !Number.isSafeInteger(company)) return
    throw redirect({ to: '/companies/$companyId', params, search: { company }, replace: true })
  },
  ...pageOf(
    () => withWords('company', import('./company-page.tsx')),
    'CompanyPage',
    ({ params }) => [companyQuery(Number(params.companyId))],
  ),
})

export const companiesRoutes = [companiesRoute, companyRoute] as const
