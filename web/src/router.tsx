import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from './account/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { blacklistRoutes } from './blacklist/routes.ts'
import { companiesRoutes } from './companies/routes.ts'
import { developersRoutes } from './developers/routes.ts'
import { dispatchesRoutes } from './dispatches/routes.ts'
import { documentsRoutes } from './documents/routes.ts'
import { gatewaysRoutes } from './gateways/routes.ts'
import { basepath } from './go-back.ts'
import { healthRoutes } from './health/routes.ts'
import { inboundRoutes } from './inbound/routes.ts'
import { invitationRoutes } from './invitation/routes.ts'
import { linksRoutes } from './links/routes.ts'
import { messagesRoutes } from './messages/routes.ts'
import { moneyRoutes } from './money/routes.ts'
import { newDispatchRoutes } from './new-dispatch/routes.ts'
import { numberingRoutes } from './numbering/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { partnersRoutes } from './partners/routes.ts'
import { peopleRoutes } from './people/routes.ts'
import { reviewRoutes } from './review/routes.ts'
import { rootRoute } from './root-route.ts'
import { sendRoutes } from './send/routes.ts'
import { sendersRoutes } from './senders/routes.ts'
import { onSignedOut, queryClient, sessionQuery } from './session.ts'
import { homeRoute, nowhereRoute, shellRoute } from './shell/shell-route.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { tariffsRoutes } from './tariffs/routes.ts'
import { templatesRoutes } from './templates/routes.ts'
import { verificationRoutes } from './verification/routes.ts'

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    // The server must know the pages outside the shell: `pagesWithoutSession` in src/http/cabinet/pages.ts.
    ...signInRoutes,
    ...invitationRoutes,
    shellRoute.addChildren([
      homeRoute,
      ...accountRoutes,
      ...auditRoutes,
      ...blacklistRoutes,
      ...companiesRoutes,
      ...developersRoutes,
      ...dispatchesRoutes,
      ...documentsRoutes,
      ...gatewaysRoutes,
      ...healthRoutes,
      ...inboundRoutes,
      ...linksRoutes,
      ...messagesRoutes,
      ...moneyRoutes,
      ...newDispatchRoutes,
      ...numberingRoutes,
      ...overviewRoutes,
      ...partnersRoutes,
      ...peopleRoutes,
      ...reviewRoutes,
      ...sendRoutes,
      ...sendersRoutes,
      ...tariffsRoutes,
      ...templatesRoutes,
      ...verificationRoutes,
      nowhereRoute,
    ]),
  ]),
  basepath,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Only if a person was signed in. `requireMe` handles visitors without a session. */
onSignedOut(() => {
  if (!queryClient.getQueryData(sessionQuery.queryKey)) return
  const { href } = router.state.location
  queryClient.clear()
  void router.navigate({ to: '/sign-in', search: { back: href, over: true }, replace: true })
})

/**
 * The router itself would load the scripts only after the answer about the session. The router also reports a failure.
 */
export const loadScriptsOfPage = () =>
  Promise.allSettled(
    router
      .matchRoutes(router.latestLocation)
      .map(({ routeId }) => router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById])),
  )
