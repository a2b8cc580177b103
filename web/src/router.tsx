import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { isSignedOut } from './api.ts'
import { readFilter } from './audit/audit.ts'
import { readBlacklistSearch } from './blacklist/blacklist.ts'
import { companiesSearchOf } from './companies/companies.ts'
import { readCallbackSearch } from './developers/callbacks.ts'
import { readRequestSearch } from './developers/requests.ts'
import { listSearchOf } from './dispatches/dispatches.ts'
import { documentsSearchOf } from './documents/documents.ts'
import { readInboundSearch, readTrialSearch } from './inbound/inbound.ts'
import { readLinkSearch } from './links/links.ts'
import { readSearch } from './messages/search.ts'
import { readLedgerFilter } from './money/money.ts'
import { homeOf } from './navigation.ts'
import { readNumbering } from './numbering/search.ts'
import { partnersSearchOf } from './partners/partners.ts'
import { Forbidden, NotFoundPage, PageError } from './parts/lost-pages.tsx'
import { reviewSearchOf } from './review/review.ts'
import { nameSearchOf, newNameSearchOf } from './senders/search.ts'
import { type Me, onSignedOut, queryClient, type Right, sessionQuery } from './session.ts'
import { Shell } from './shell/shell.tsx'
import { readQuestion } from './tariffs/calculator.ts'
import { readBook } from './tariffs/tariffs.ts'
import { templateSearchOf } from './templates/search.ts'
import { readVerification } from './verification/verification.ts'
import { languageOfDevice, showLanguage, withWords } from './words/words.ts'

const rootRoute = createRootRoute({ component: Outlet })

/** `back` is where the person wanted to go; `over` says that a session ended there. */
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  // `undefined` removes what is wrong; what is merely missing here would stay.
  validateSearch: (search: Record<string, unknown>): { back?: string | undefined; over?: true | undefined } => ({
    back: isOurs(search.back) ? search.back : undefined,
    over: search.over === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
})

/** A path of the cabinet, never an address elsewhere. */
const isOurs = (back: unknown): back is string => typeof back === 'string' && /^\/(?![/\\])/.test(back)

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('./invitation/invitation-page.tsx'), 'InvitationPage'),
})

/** Everything that needs a person who is signed in. The chosen company stays in the address from page to page. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  validateSearch: (search: Record<string, unknown>): { company?: number | undefined } => ({
    company: Number.isSafeInteger(search.company) ? (search.company as number) : undefined,
  }),
  search: { middlewares: [retainSearchParams(['company'])] },
  beforeLoad: async ({ location }) => ({ me: await requireMe(location.href) }),
  component: Shell,
})

async function requireMe(back: string): Promise<Me> {
  try {
    const { person } = await queryClient.ensureQueryData(sessionQuery)
    await showLanguage(person.language ?? languageOfDevice())
    return person
  } catch (error) {
    if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: back === '/' ? {} : { back } })
    throw error
  }
}

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    throw redirect({ to: homeOf(context.me), replace: true })
  },
})

const sendersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders',
  validateSearch: nameSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./senders/senders-page.tsx')), 'SendersPage'),
})

const newSenderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/new',
  validateSearch: newNameSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.change'),
  component: lazyRouteComponent(() => withWords('company', import('./senders/new-sender-page.tsx')), 'NewSenderPage'),
})

/** `edit` shows the form in place of the page. */
const editOf = (search: Record<string, unknown>): { edit?: true | undefined } => ({
  edit: search.edit === true ? true : undefined,
})

const senderRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/senders/$senderId',
  params: {
    parse: ({ senderId }) => ({ senderId: Number(senderId) }),
    stringify: ({ senderId }) => ({ senderId: String(senderId) }),
  },
  validateSearch: editOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./senders/sender-page.tsx')), 'SenderPage'),
})

const templatesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates',
  validateSearch: templateSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./templates/templates-page.tsx')), 'TemplatesPage'),
})

const newTemplateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/new',
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.change'),
  component: lazyRouteComponent(
    () => withWords('company', import('./templates/new-template-page.tsx')),
    'NewTemplatePage',
  ),
})

const templateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/$templateId',
  params: {
    parse: ({ templateId }) => ({ templateId: Number(templateId) }),
    stringify: ({ templateId }) => ({ templateId: String(templateId) }),
  },
  validateSearch: editOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./templates/template-page.tsx')), 'TemplatePage'),
})

const reviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/review',
  validateSearch: reviewSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'review'),
  component: lazyRouteComponent(
    () => withWords('service', withWords('company', import('./review/review-page.tsx'))),
    'ReviewPage',
  ),
})

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
})

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: readSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => import('./messages/messages-page.tsx'), 'MessagesPage'),
})

const gatewaysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways',
  beforeLoad: ({ context }) => requireRight(context.me, 'gateways.see'),
  component: lazyRouteComponent(() => withWords('service', import('./gateways/gateways-page.tsx')), 'GatewaysPage'),
})

/** What the form begins with. */
type NewGatewaySearch = { connector?: string | undefined; channel?: string | undefined }

const newGatewayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/new',
  validateSearch: ({ connector, channel }: Record<string, unknown>): NewGatewaySearch => ({
    connector: typeof connector === 'string' ? connector : undefined,
    channel: typeof channel === 'string' ? channel : undefined,
  }),
  beforeLoad: ({ context }) => requireRight(context.me, 'gateways.change'),
  component: lazyRouteComponent(
    () => withWords('service', import('./gateways/new-gateway-page.tsx')),
    'NewGatewayPage',
  ),
})

const gatewayParams = {
  parse: ({ gatewayId }: { gatewayId: string }) => ({ gatewayId: Number(gatewayId) }),
  stringify: ({ gatewayId }: { gatewayId: number }) => ({ gatewayId: String(gatewayId) }),
}

const gatewayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/$gatewayId',
  params: gatewayParams,
  beforeLoad: ({ context }) => requireRight(context.me, 'gateways.see'),
  component: lazyRouteComponent(() => withWords('service', import('./gateways/gateway-page.tsx')), 'GatewayPage'),
})

const gatewaySettingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/$gatewayId/settings',
  params: gatewayParams,
  beforeLoad: ({ context }) => requireRight(context.me, 'gateways.change'),
  component: lazyRouteComponent(
    () => withWords('service', import('./gateways/gateway-settings-page.tsx')),
    'GatewaySettingsPage',
  ),
})

const healthRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/health',
  beforeLoad: ({ context }) => requireRight(context.me, 'health.see'),
  component: lazyRouteComponent(() => withWords('service', import('./health/health-page.tsx')), 'HealthPage'),
})

const messageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$uuid',
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => import('./messages/message-page.tsx'), 'MessagePage'),
})

const tariffsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs',
  validateSearch: readBook,
  beforeLoad: ({ context }) => requireRight(context.me, 'tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/tariffs-page.tsx')), 'TariffsPage'),
})

const tariffRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/$tariffId',
  params: {
    parse: ({ tariffId }) => ({ tariffId: Number(tariffId) }),
    stringify: ({ tariffId }) => ({ tariffId: String(tariffId) }),
  },
  beforeLoad: ({ context }) => requireRight(context.me, 'tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/tariff-page.tsx')), 'TariffPage'),
})

const tariffImportRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/import',
  validateSearch: readBook,
  beforeLoad: ({ context }) => requireRight(context.me, 'tariffs.change'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/import-page.tsx')), 'ImportPage'),
})

const tariffCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tariffs/calculator',
  validateSearch: readQuestion,
  beforeLoad: ({ context }) => requireRight(context.me, 'tariffs.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/calculator-page.tsx')), 'CalculatorPage'),
})

const pricesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices',
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/prices-page.tsx')), 'PricesPage'),
})

const priceCalculatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prices/calculator',
  validateSearch: readQuestion,
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('service', import('./tariffs/calculator-page.tsx')), 'CalculatorPage'),
})

const numberingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/numbering',
  validateSearch: readNumbering,
  beforeLoad: ({ context }) => requireRight(context.me, 'numbering.see'),
  component: lazyRouteComponent(() => withWords('service', import('./numbering/numbering-page.tsx')), 'NumberingPage'),
})

const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  beforeLoad: ({ context }) => requireRight(context.me, 'people.see'),
  component: lazyRouteComponent(() => import('./people/people-page.tsx'), 'PeoplePage'),
})

const dispatchesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches',
  validateSearch: listSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => import('./dispatches/dispatches-page.tsx'), 'DispatchesPage'),
})

const dispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/$dispatchId',
  params: {
    parse: ({ dispatchId }) => ({ dispatchId: Number(dispatchId) }),
    stringify: ({ dispatchId }) => ({ dispatchId: String(dispatchId) }),
  },
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => import('./dispatches/dispatch-page.tsx'), 'DispatchPage'),
})

const moneyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money',
  validateSearch: (search: Record<string, unknown>): { page?: number | undefined } => ({
    page: Number.isSafeInteger(search.page) && Number(search.page) > 1 ? Number(search.page) : undefined,
  }),
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('company', import('./money/money-page.tsx')), 'BudgetPage'),
})

const ledgerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/ledger',
  validateSearch: readLedgerFilter,
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('company', import('./money/money-page.tsx')), 'LedgerPage'),
})

const statementsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/statements',
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('company', import('./money/money-page.tsx')), 'StatementsPage'),
})

const statementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/money/statements/$month',
  beforeLoad: ({ context }) => requireRight(context.me, 'money.see'),
  component: lazyRouteComponent(() => withWords('company', import('./money/statement-page.tsx')), 'StatementPage'),
})

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: readFilter,
  beforeLoad: ({ context }) => requireRight(context.me, 'audit.see'),
  component: lazyRouteComponent(() => withWords('service', import('./audit/audit-page.tsx')), 'AuditPage'),
})

const inboundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound',
  validateSearch: readInboundSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => withWords('company', import('./inbound/inbound-page.tsx')), 'InboundPage'),
})

const inboundRulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/rules',
  validateSearch: readTrialSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./inbound/rules-page.tsx')), 'RulesPage'),
})

const inboundCentersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbound/centers',
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./inbound/centers-page.tsx')), 'CentersPage'),
})

const linksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/links',
  validateSearch: readLinkSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.see'),
  component: lazyRouteComponent(() => withWords('company', import('./links/links-page.tsx')), 'LinksPage'),
})

const blacklistRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/blacklist',
  validateSearch: readBlacklistSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./blacklist/blacklist-page.tsx')), 'BlacklistPage'),
})

/** The list is of all companies, whichever is chosen. */
const companiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies',
  validateSearch: companiesSearchOf,
  beforeLoad: ({ context, search }) => {
    requireRight(context.me, 'companies.see')
    if (search.company === undefined) return
    throw redirect({ to: '/companies', search: { ...search, company: undefined }, replace: true })
  },
  component: lazyRouteComponent(() => withWords('company', import('./companies/companies-page.tsx')), 'CompaniesPage'),
})

/** The company of the page is the one that is chosen, so that other pages go on with it. */
const companyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies/$companyId',
  params: {
    parse: ({ companyId }) => ({ companyId: Number(companyId) }),
    stringify: ({ companyId }) => ({ companyId: String(companyId) }),
  },
  beforeLoad: ({ context, search, params }) => {
    requireRight(context.me, 'companies.see')
    const { companyId: company } = params
    if (search.company === company || !Number.isSafeInteger(company)) return
    throw redirect({ to: '/companies/$companyId', params, search: { company }, replace: true })
  },
  component: lazyRouteComponent(() => withWords('company', import('./companies/company-page.tsx')), 'CompanyPage'),
})

const documentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/documents',
  validateSearch: documentsSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./documents/documents-page.tsx')), 'DocumentsPage'),
})

const partnersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners',
  validateSearch: partnersSearchOf,
  beforeLoad: ({ context }) => requireRight(context.me, 'partners.see'),
  component: lazyRouteComponent(() => withWords('company', import('./partners/partners-page.tsx')), 'PartnersPage'),
})

const partnerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/partners/$partnerId',
  params: {
    parse: ({ partnerId }) => ({ partnerId: Number(partnerId) }),
    stringify: ({ partnerId }) => ({ partnerId: String(partnerId) }),
  },
  beforeLoad: ({ context }) => requireRight(context.me, 'partners.see'),
  component: lazyRouteComponent(() => withWords('company', import('./partners/partner-page.tsx')), 'PartnerPage'),
})

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account/account-page.tsx'), 'AccountPage'),
})

/** `step` is where the person is; the page shows an earlier one while something is missing. */
const newDispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/new',
  validateSearch: (search: Record<string, unknown>): { step?: 1 | 2 | 3 | 4 | undefined } => ({
    step: [1, 2, 3, 4].includes(Number(search.step)) ? (Number(search.step) as 1 | 2 | 3 | 4) : undefined,
  }),
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.send'),
  component: lazyRouteComponent(() => import('./new-dispatch/new-dispatch-page.tsx'), 'NewDispatchPage'),
})

/** `to` begins a message to that number; `sent` shows what becomes of one. */
const sendRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/send',
  validateSearch: (search: Record<string, unknown>): { to?: string | undefined; sent?: string | undefined } => ({
    to: search.to === undefined ? undefined : String(search.to),
    sent: typeof search.sent === 'string' ? search.sent : undefined,
  }),
  beforeLoad: ({ context }) => requireRight(context.me, 'traffic.send'),
  component: lazyRouteComponent(() => import('./send/send-page.tsx'), 'SendPage'),
})

const verificationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification',
  validateSearch: readVerification,
  beforeLoad: ({ context }) => requireRight(context.me, 'settings.see'),
  component: lazyRouteComponent(
    () => withWords('company', import('./verification/verification-page.tsx')),
    'VerificationPage',
  ),
})

/** The id `new` stands for one that is to be made. */
const verifierRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification/verifiers/$id',
  beforeLoad: ({ context, params }) =>
    requireRight(context.me, params.id === 'new' ? 'settings.change' : 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./verification/editor-page.tsx')), 'VerifierPage'),
})

const widgetRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/verification/widgets/$id',
  beforeLoad: ({ context, params }) =>
    requireRight(context.me, params.id === 'new' ? 'settings.change' : 'settings.see'),
  component: lazyRouteComponent(() => withWords('company', import('./verification/editor-page.tsx')), 'WidgetPage'),
})

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  beforeLoad: ({ context }) => requireRight(context.me, 'developers.see'),
  component: lazyRouteComponent(() => withWords('company', import('./developers/keys-page.tsx')), 'KeysPage'),
})

const callbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/callbacks',
  validateSearch: readCallbackSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'developers.see'),
  component: lazyRouteComponent(() => withWords('company', import('./developers/callbacks-page.tsx')), 'CallbacksPage'),
})

const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/requests',
  validateSearch: readRequestSearch,
  beforeLoad: ({ context }) => requireRight(context.me, 'developers.see'),
  component: lazyRouteComponent(() => withWords('company', import('./developers/requests-page.tsx')), 'RequestsPage'),
})

const nowhereRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFoundPage })

function requireRight({ rights }: Me, right: Right) {
  if (!rights.includes(right)) throw new Forbidden()
}

const basepath = new URL(document.baseURI).pathname

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    invitationRoute,
    shellRoute.addChildren([
      homeRoute,
      tariffsRoute,
      tariffRoute,
      tariffImportRoute,
      tariffCalculatorRoute,
      pricesRoute,
      priceCalculatorRoute,
      numberingRoute,
      reviewRoute,
      sendersRoute,
      newSenderRoute,
      senderRoute,
      templatesRoute,
      newTemplateRoute,
      templateRoute,
      overviewRoute,
      dispatchesRoute,
      dispatchRoute,
      newDispatchRoute,
      messagesRoute,
      messageRoute,
      gatewaysRoute,
      newGatewayRoute,
      gatewayRoute,
      gatewaySettingsRoute,
      healthRoute,
      sendRoute,
      companiesRoute,
      companyRoute,
      documentsRoute,
      partnersRoute,
      partnerRoute,
      peopleRoute,
      moneyRoute,
      ledgerRoute,
      statementsRoute,
      statementRoute,
      auditRoute,
      inboundRoute,
      inboundRulesRoute,
      inboundCentersRoute,
      linksRoute,
      blacklistRoute,
      keysRoute,
      callbacksRoute,
      requestsRoute,
      accountRoute,
      verificationRoute,
      verifierRoute,
      widgetRoute,
      nowhereRoute,
    ]),
  ]),
  basepath,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Only where a person was signed in: the first question of a visitor is answered in `requireMe`. */
onSignedOut(() => {
  if (!queryClient.getQueryData(sessionQuery.queryKey)) return
  const { href } = router.state.location
  queryClient.clear()
  void router.navigate({ to: '/sign-in', search: { back: href, over: true }, replace: true })
})

/** The router itself would load them only once the server has said who is signed in. */
export function loadScriptsOfPage() {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route = router.routesById[routeId as keyof typeof router.routesById]
    void router.loadRouteChunk(route)?.catch(() => {}) // the router tells of it
  }
}

/** To the page that the person wanted before signing in. */
export const goBackTo = (back = '/') => router.history.replace(basepath.replace(/\/$/, '') + back)
