import { UsageError } from '../../base/errors.ts'
import { entryOf } from '../../channels/catalogue.ts'
import type { Receipt } from '../../channels/channel.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import type { Trial, TrialOutcome } from '../../engine/gateways/trial.ts'
import type { Call } from '../command.ts'

const MOST_WAIT_SECONDS = 600

export function readTrial({ options, config }: Call): Trial {
  const { to, sender, text, wait = '' } = options
  if (!/^\d{1,3}$/.test(wait) || Number(wait) > MOST_WAIT_SECONDS) {
    throw new UsageError(`--wait must be from 0 to ${MOST_WAIT_SECONDS} seconds, not "${wait}".`)
  }
  return { to: to!, sender: sender!, text: text!, waitMs: Number(wait) * 1000, stopWords: config.stopWords }
}

export const presentTrial = ({ gatewayId, name }: Gateway, { result, receipts }: TrialOutcome) => ({
  gatewayId,
  name,
  outcome: result?.kind ?? 'lost',
  ...(result && 'providerIds' in result ? { providerIds: result.providerIds } : {}),
  ...(result && 'delivered' in result ? { delivered: true } : {}),
  ...(result && 'reason' in result ? { reason: result.reason } : {}),
  ...(result && 'errorCode' in result ? { errorCode: result.errorCode } : {}),
  ...(result && 'operatorError' in result ? { operatorError: result.operatorError } : {}),
  receipts: receipts.map(({ status, errorCode, operatorError, happenedAt }) => ({
    status,
    errorCode,
    operatorError,
    at: happenedAt.toISOString(),
  })),
})

export function trialInWords(gateway: Gateway, { result, receipts }: TrialOutcome): string {
  if (result?.kind !== 'accepted') {
    return `Gateway ${gateway.name} did not take the message: ${result ? result.reason : 'the connection was lost'}.`
  }
  if (result.delivered) return `Gateway ${gateway.name} delivered the message.`
  const ids = result.providerIds ? ` as ${result.providerIds.join(', ')}` : ''
  return [`Gateway ${gateway.name} took the message${ids}.`, receiptsInWords(gateway, receipts)].join('\n')
}

function receiptsInWords({ gatewayId, connector }: Gateway, receipts: Receipt[]): string {
  if (entryOf(connector).hasWebhook) return `Receipts come to the service, at /webhooks/${gatewayId}.`
  if (receipts.length === 0) return 'No receipt came within the time.'
  return receipts
    .map(({ status, operatorError }) => `Receipt: ${status}${operatorError ? ` (${operatorError})` : ''}.`)
    .join('\n')
}
