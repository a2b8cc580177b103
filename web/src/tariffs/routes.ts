import { createRoute } from '@tanstack/react-router'
import { sortIn } from '../search-values.ts'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readQuestion } from './calculator/calculator.ts'
import { bookQuery, pricesQuery, readBook, tariffQuery } from './tariffs.ts'

const tariffsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs',
  validateSearch: readBook,
  beforeLoad: needs('tariffs.see'),
  ...pageOf(
    () => withWords('service', import('./tariffs-page.tsx')),
    'TariffsPage',
    ({ search }) => [bookQuery(readBook(search).book)],
  ),
})

const tariffRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/$tariffId',
  params: idIn('tariffId'),
  beforeLoad: needs('tariffs.see'),
  ...pageOf(
    () => withWords('service', import('./tariff-page.tsx')),
    'TariffPage',
    ({ chosen, params }) => [tariffQuery(Number(params.tariffId), chosen)],
  ),
})

const tariffImportRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/import',
  validateSearch: readBook,
  beforeLoad: needs('tariffs.change'),
  ...pageOf(() => withWords('service', import('./changes/import-page.tsx')), 'ImportPage'),
})

const tariffCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/calculator',
  validateSearch: readQuestion,
  beforeLoad: needs('tariffs.see'),
  ...pageOf(() => withWords('service', import('./calculator/calculator-page.tsx')), 'CalculatorPage'),
})

const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  validateSearch: sortIn,
  beforeLoad: needs('money.see'),
  ...pageOf(
    () => withWords('service', import('./prices-page.tsx')),
    'PricesPage',
    ({ chosen }) => [pricesQuery(chosen)],
  ),
})

const priceCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices/calculator',
  validateSearch: readQuestion,
  beforeLoad: needs('money.see'),
  ...pageOf(() => withWords('service', import('./calculator/calculator-page.tsx')), 'CalculatorPage'),
})

export const tariffsRoutes = [
  tariffsRoute,
  tariffRoute,
  tariffImportRoute,
  tariffCalculatorRoute,
  pricesRoute,
  priceCalculatorRoute,
] as const
