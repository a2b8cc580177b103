import { createRoute } from '@tanstack/react-router'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { ledgerQuery, moneyQuery, readLedgerFilter, statementsQuery } from './money.ts'

const moneyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money',
  validateSearch: (search: Record<string, unknown>): { page?: number | undefined } => ({
    page: Number.isSafeInteger(search.page) && Number(search.page) > 1 ? Number(search.page) : undefined,
  }),
  beforeLoad: needs('money.see'),
  ...pageOf(
    () => withWords('money', import('./money-page.tsx')),
    'BudgetPage',
    ofOneCompany(companyId => [moneyQuery(companyId)]),
  ),
})

const ledgerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/ledger',
  validateSearch: readLedgerFilter,
  beforeLoad: needs('money.see'),
  ...pageOf(
    () => withWords('money', import('./money-page.tsx')),
    'LedgerPage',
    ofOneCompany((companyId, { search }) => [ledgerQuery(companyId, readLedgerFilter(search))]),
  ),
})

const statementsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/statements',
  beforeLoad: needs('money.see'),
  ...pageOf(
    () => withWords('money', import('./money-page.tsx')),
    'StatementsPage',
    ofOneCompany(companyId => [statementsQuery(companyId)]),
  ),
})

const statementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/statements/$month',
  beforeLoad: needs('money.see'),
  ...pageOf(() => withWords('money', import('./statements/statement-page.tsx')), 'StatementPage'),
})

export const moneyRoutes = [moneyRoute, ledgerRoute, statementsRoute, statementRoute] as const
