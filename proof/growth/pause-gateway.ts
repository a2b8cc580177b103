import { secret } from '../../bench/secret.ts'
import type { Pool } from '../../src/db/sql.ts'
import type { Gateway } from '../../src/domain/gateways/gateway.ts'
import { changeGateway } from '../../src/domain/gateways/gateways.ts'
import { gatewayKey } from '../../src/domain/gateways/secrets.ts'

/** A pause changes no settings, so there is nothing to check. */
const UNCHECKED = { key: gatewayKey(secret), secretNames: [], check: () => {} }

/** The messages of a paused gateway wait. */
export const pauseGateway = (sql: Pool, { gatewayId }: Pick<Gateway, 'gatewayId'>, paused: boolean) =>
  changeGateway(sql, gatewayId, { paused }, UNCHECKED)
