import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { readQuestion } from './calculator.ts'
import { readBook } from './tariffs.ts'

const tariffsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs',
  validateSearch: readBook,
  beforeLoad: needs('tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs-page.tsx')), 'TariffsPage'),
})

const tariffRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/$tariffId',
  params: idIn('tariffId'),
  beforeLoad: needs('tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariff-page.tsx')), 'TariffPage'),
})

const tariffImportRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/import',
  validateSearch: readBook,
  beforeLoad: needs('tariffs.change'),
  component: lazyRouteComponent(() => withWords('service', import('./import-page.tsx')), 'ImportPage'),
})

const tariffCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/calculator',
  validateSearch: readQuestion,
  beforeLoad: needs('tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./calculator-page.tsx')), 'CalculatorPage'),
})

const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  beforeLoad: needs('money.see'),
  component: lazyRouteComponent(() => withWords('service', import('./prices-page.tsx')), 'PricesPage'),
})

const priceCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices/calculator',
  validateSearch: readQuestion,
  beforeLoad: needs('money.see'),
  component: lazyRouteComponent(() => withWords('service', import('./calculator-page.tsx')), 'CalculatorPage'),
})

export const tariffsRoutes = [
  tariffsRoute,
  tariffRoute,
  tariffImportRoute,
  tariffCalculatorRoute,
  pricesRoute,
  priceCalculatorRoute,
] as const
