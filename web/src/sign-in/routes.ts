import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

/** `back` is the page that the person wanted to open. `over` says that the session ended there. */
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  // `undefined` removes an invalid value from the address. A missing key would keep it.
  validateSearch: (search: Record<string, unknown>): { back?: string | undefined; over?: true | undefined } => ({
    back: isOurs(search.back) ? search.back : undefined,
    over: search.over === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

/** A path of the cabinet, never the address of another site. */
const isOurs = (back: unknown): back is string => typeof back === 'string' && /^\/(?![/\\])/.test(back)

export const signInRoutes = [signInRoute] as const
