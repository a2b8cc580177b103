import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

/** `back` is where the person wanted to go; `over` says that a session ended there. */
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  // `undefined` removes what is wrong; what is merely missing here would stay.
  validateSearch: (search: Record<string, unknown>): { back?: string | undefined; over?: true | undefined } => ({
    back: isOurs(search.back) ? search.back : undefined,
    over: search.over === true ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

/** A path of the cabinet, never an address elsewhere. */
const isOurs = (back: unknown): back is string => typeof back === 'string' && /^\/(?![/\\])/.test(back)

export const signInRoutes = [signInRoute] as const
