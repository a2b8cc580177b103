import { createRoute } from '@tanstack/react-router'
import { sortIn } from '../search-values.ts'
import { pageOf } from '../shell/page.ts'
import { idIn, needs, shellRoute } from '../shell/shell-route.ts'
import { withWords } from '../words/words.ts'
import { gatewayQuery, gatewaysQuery } from './gateways.ts'

/** The initial values of the form. */
type NewGatewaySearch = { connector?: string | undefined; channel?: string | undefined }

const gatewaysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways',
  validateSearch: sortIn,
  beforeLoad: needs('gateways.see'),
  ...pageOf(
    () => withWords('service', import('./gateways-page.tsx')),
    'GatewaysPage',
    () => [gatewaysQuery],
  ),
})

const newGatewayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/new',
  validateSearch: ({ connector, channel }: Record<string, unknown>): NewGatewaySearch => ({
    connector: typeof connector === 'string' ? connector : undefined,
    channel: typeof channel === 'string' ? channel : undefined,
  }),
  beforeLoad: needs('gateways.change'),
  ...pageOf(() => withWords('service', import('./form/new-gateway-page.tsx')), 'NewGatewayPage'),
})

const gatewayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/$gatewayId',
  params: idIn('gatewayId'),
  beforeLoad: needs('gateways.see'),
  ...pageOf(
    () => withWords('service', import('./details/gateway-page.tsx')),
    'GatewayPage',
    ({ params }) => [gatewayQuery(Number(params.gatewayId))],
  ),
})

const gatewaySettingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways/$gatewayId/settings',
  params: idIn('gatewayId'),
  beforeLoad: needs('gateways.change'),
  ...pageOf(() => withWords('service', import('./form/gateway-settings-page.tsx')), 'GatewaySettingsPage'),
})

export const gatewaysRoutes = [gatewaysRoute, newGatewayRoute, gatewayRoute, gatewaySettingsRoute] as const
