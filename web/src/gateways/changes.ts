import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { GatewayChanged } from '../../../src/http/cabinet/service/gateway-changes.ts'
import type { Wire } from '../api.ts'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { useWords } from '../words/words.ts'
import { GATEWAYS } from './gateways.ts'

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
