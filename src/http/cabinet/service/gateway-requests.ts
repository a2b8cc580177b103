import Type from 'typebox'
import { AppError } from '../../../base/errors.ts'
import type { Connectors } from '../../../domain/gateways/connectors.ts'
import { Id } from '../../schemas.ts'

export const ByGateway = Type.Object({ gatewayId: Id })

export const gatewayNotFound = () => new AppError('not_found', 'Gateway not found')

/** Throws in a process without connectors. Connectors check the settings of a gateway and send test messages. */
export function requireConnectors(connectors: Connectors | undefined): Connectors {
  if (!connectors) throw new AppError('not_ready', 'This process cannot change gateways')
  return connectors
}
