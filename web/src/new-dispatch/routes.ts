import { createRoute } from '@tanstack/react-router'
import { pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'
import { readDraftEarly } from './kept-draft.ts'
import { offerQuery } from './offer-query.ts'
import { type Step, steps } from './steps.ts'

/** `step` is the wanted step. The page shows an earlier step while that one has a mistake. */
const newDispatchRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dispatches/new',
  validateSearch: (search: Record<string, unknown>): { step?: Step | undefined } => ({
    step: steps.find(step => step === Number(search.step)),
  }),
  beforeLoad: needs('traffic.send'),
  ...pageOf(
    () => import('./new-dispatch-page.tsx'),
    'NewDispatchPage',
    ({ me, chosen }) => [
      readDraftEarly(me.personId),
      ...(me.kind === 'COMPANY' || chosen !== undefined ? [offerQuery(chosen)] : []),
    ],
  ),
})

export const newDispatchRoutes = [newDispatchRoute] as const
