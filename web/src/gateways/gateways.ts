import { queryOptions } from '@tanstack/react-query'
import type {
  ConnectorsAnswer,
  GatewayAnswer,
  GatewaysAnswer,
  ListedGateway,
} from '../../../src/http/cabinet/service/gateways.ts'
import { ask, type Wire } from '../api.ts'

export type Gateway = Wire<ListedGateway>
export type GatewayDetails = Wire<GatewayAnswer>
export type Connector = Wire<ConnectorsAnswer>['connectors'][number]
export type Field = Connector['fields'][number]

export const GATEWAYS = ['gateways'] as const
/** The server reads the states once a second for all viewers together. */
const REFRESH_MS = 3000

export const gatewaysQuery = queryOptions({
  queryKey: [...GATEWAYS, 'all'],
  queryFn: () => ask<GatewaysAnswer>('GET', '/gateways'),
  refetchInterval: REFRESH_MS,
})

export const gatewayQuery = (gatewayId: number) =>
  queryOptions({
    queryKey: [...GATEWAYS, gatewayId],
    queryFn: () => ask<GatewayAnswer>('GET', `/gateways/${gatewayId}`),
    refetchInterval: REFRESH_MS,
  })

export const connectorsQuery = queryOptions({
  queryKey: ['connectors'],
  queryFn: () => ask<ConnectorsAnswer>('GET', '/connectors'),
  staleTime: Number.POSITIVE_INFINITY,
})
