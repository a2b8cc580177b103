import { createRoute } from '@tanstack/react-router'
import { offerQuery } from '../new-dispatch/offer-query.ts'
import { ofOneCompany, pageOf } from '../shell/page.ts'
import { needs, shellRoute } from '../shell/shell-route.ts'

/**
 * `to` begins a message to that number, `again` begins a copy of a failed message, `sent` shows the status of a sent
 * message.
 */
const sendRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/send',
  validateSearch: (search: Record<string, unknown>): SendSearch => ({
    to: search.to === undefined ? undefined : String(search.to),
    again: typeof search.again === 'string' ? search.again : undefined,
    sent: typeof search.sent === 'string' ? search.sent : undefined,
  }),
  beforeLoad: needs('traffic.send'),
  ...pageOf(
    () => import('./send-page.tsx'),
    'SendPage',
    ofOneCompany((companyId, { search }) =>
      search.sent === undefined && search.again === undefined ? [offerQuery(companyId)] : [],
    ),
  ),
})

type SendSearch = { to?: string | undefined; again?: string | undefined; sent?: string | undefined }

export const sendRoutes = [sendRoute] as const
