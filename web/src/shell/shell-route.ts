import { createRoute, lazyRouteComponent, redirect, retainSearchParams } from '@tanstack/react-router'
import { isSignedOut } from '../api.ts'
import { firstPageOf } from '../navigation.ts'
import { Forbidden } from '../parts/pages/forbidden.ts'
import { rootRoute } from '../root-route.ts'
import { type Me, queryClient, type Right, sessionQuery } from '../session.ts'
import { languageOfDevice, showLanguage, wantedLanguage } from '../words/words.ts'

/** The parent of all pages that need a signed-in person. The chosen company stays in the address from page to page. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  validateSearch: (search: Record<string, unknown>): { company?: number | undefined } => ({
    company: typeof search.company === 'number' && Number.isSafeInteger(search.company) ? search.company : undefined,
  }),
  search: { middlewares: [retainSearchParams(['company'])] },
  beforeLoad: async ({ location }) => ({ me: await requireMe(location.href) }),
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
})

async function requireMe(back: string): Promise<Me> {
  try {
    const { person } = await queryClient.ensureQueryData(sessionQuery)
    const language = person.language ?? languageOfDevice()
    // The first drawing waits for the words of the device, but the first reads of the page do not.
    if (language !== wantedLanguage()) await showLanguage(language)
    return person
  } catch (error) {
    if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: back === '/' ? {} : { back } })
    throw error
  }
}

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    throw redirect({ to: firstPageOf(context.me), replace: true })
  },
})

export const nowhereRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: lazyRouteComponent(() => import('../parts/pages/lost-pages.tsx'), 'NotFoundPage'),
})

// Helpers for the routes of pages -------------------------------------------------------------------------------------

type Signed = { context: { me: Me } }

/** `beforeLoad` of a page that only people with the right may open. */
export const needs =
  (right: Right) =>
  ({ context }: Signed) =>
    requireRight(context.me, right)

export function requireRight({ rights }: Me, right: Right) {
  if (!rights.includes(right)) throw new Forbidden()
}

/** `params` of a page whose address has the id of a row. */
export const idIn = <Name extends string>(name: Name) => ({
  parse: (params: Record<Name, string>) => ({ [name]: Number(params[name]) }) as Record<Name, number>,
  stringify: (params: Record<Name, number>) => ({ [name]: String(params[name]) }) as Record<Name, string>,
})
