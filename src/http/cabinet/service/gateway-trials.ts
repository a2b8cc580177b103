import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import { AppError, invalid, UsageError } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { gatewaySubject } from '../../../domain/gateways/audit-fields.ts'
import type { Connectors, TrialReport } from '../../../domain/gateways/connectors.ts'
import type { Gateway } from '../../../domain/gateways/gateway.ts'
import { findGateway } from '../../../domain/gateways/gateways.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { ByGateway, gatewayNotFound, requireConnectors } from './gateway-requests.ts'

const TrialMessage = Type.Object({
  to: Type.String({ minLength: 1, maxLength: 2000 }),
  sender: Type.String({ minLength: 1, maxLength: 100 }),
  text: Type.String({ minLength: 1, maxLength: 2000 }),
})

/** Types of requests and answers, which the pages import. */
export type TrialBody = Type.Static<typeof TrialMessage>
export type { TrialReport } from '../../../domain/gateways/connectors.ts'

const RECEIPT_WAIT_MS = 8000
/** The page waits 30 seconds. */
const TRIAL_MS = 25_000
const MOST_TRIALS = 3

/** Sends one message, which is neither stored nor billed. */
export function gatewayTrialRoutes(api: CabinetApi, { sql, connectors }: CabinetContext) {
  let trials = 0

  api.post(
    '/gateways/:gatewayId/trials',
    { config: { needs: 'gateways.change' }, schema: { params: ByGateway, body: TrialMessage } },
    async ({ actor, params, body }): Promise<TrialReport> => {
      const gateway = await findGateway(sql, params.gatewayId)
      if (!gateway) throw gatewayNotFound()
      if (trials >= MOST_TRIALS) throw tooManyTrials()
      trials += 1
      try {
        const after = { to: body.to, sender: body.sender }
        await sql.begin(tx =>
          recordChange(tx, actor, { what: 'gateway.tested', subject: gatewaySubject(gateway), after }),
        )
        return await tryOut(requireConnectors(connectors), gateway, body)
      } finally {
        trials -= 1
      }
    },
  )
}

async function tryOut(connectors: Connectors, gateway: Gateway, message: TrialBody): Promise<TrialReport> {
  const end = new AbortController()
  const over = pause(TRIAL_MS, undefined, { signal: end.signal }).then(() => {
    throw invalid('The operator did not answer within 25 seconds')
  })
  try {
    return await Promise.race([connectors.tryOut(gateway, { ...message, waitMs: RECEIPT_WAIT_MS }), over])
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message.replace(/^--/, '').replace(/\.$/, ''))
    throw error
  } finally {
    end.abort()
    over.catch(() => {})
  }
}

const tooManyTrials = () =>
  new AppError('too_many_requests', 'Other gateways are being tested: try again in a moment', {
    retryAfterSeconds: 10,
    limit: MOST_TRIALS,
  })
