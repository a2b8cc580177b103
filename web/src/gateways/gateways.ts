import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { GatewayChanged } from '../../../src/http/cabinet/service/gateway-changes.ts'
import type {
  ConnectorsAnswer,
  GatewayAnswer,
  GatewaysAnswer,
  ListedGateway,
} from '../../../src/http/cabinet/service/gateways.ts'
import { ask, type Wire } from '../api.ts'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { useWords } from '../words/words.ts'

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

/** Sends a change, reports its success, and reloads the gateways. */
export function useGatewayChange<Body extends object | undefined>(
  send: (body: Body) => Promise<Wire<GatewayChanged> | undefined>,
  done: string,
  after: (gatewayId: number | undefined) => void,
) {
  const { say } = useWords()
  const client = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: async changed => {
      const behind = changed?.enginesBehind ?? 0
      tellDone(behind === 0 ? done : `${done} ${say('gateway.enginesBehind', { count: behind })}`)
      after(changed?.gatewayId)
      await client.invalidateQueries({ queryKey: GATEWAYS })
    },
  })
}
