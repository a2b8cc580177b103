import { catalogue, descriptions, entryOf, isConnector } from '../../channels/catalogue.ts'
import type { Pool } from '../../db/sql.ts'
import type { Connectors, TrialReport } from '../../domain/gateways/connectors.ts'
import type { SettingRules } from '../../domain/gateways/gateway.ts'
import { gatewayKey } from '../../domain/gateways/secrets.ts'
import type { TrialOutcome } from './trial.ts'

type Context = { sql: Pool; secret: string; stopWords?: readonly string[] }

/** The connectors of this program, for the pages of the cabinet. */
export const knownConnectors = ({ sql, secret, stopWords = [] }: Context): Connectors => ({
  descriptions,
  settingRulesOf: connector => settingRulesOf(secret, connector),
  async tryOut(gateway, trial) {
    // Imported only when it is used, because it imports the code of every connector.
    const { tryGateway } = await import('./trial.ts')
    return reportOf(await tryGateway({ sql, secret }, gateway, { ...trial, stopWords }))
  },
})

/** A gateway may have a connector that this version does not know. It can be paused and removed, but not changed. */
export const settingRulesOf = (secret: string, connector: string): SettingRules => ({
  key: gatewayKey(secret),
  secretNames: secretsOf(connector),
  check: settings => entryOf(connector).check(settings),
})

export const secretsOf = (connector: string): readonly string[] =>
  isConnector(connector) ? catalogue[connector].secrets : []

const reportOf = ({ result, receipts }: TrialOutcome): TrialReport => ({
  outcome: result?.kind ?? 'lost',
  isDelivered: result?.kind === 'accepted' && result.delivered === true,
  providerIds: result?.kind === 'accepted' ? (result.providerIds ?? []) : [],
  reason: result && 'reason' in result ? result.reason : null,
  errorCode: result?.kind === 'refused' ? result.errorCode : null,
  operatorError: result?.kind === 'refused' ? (result.operatorError ?? null) : null,
  receipts: receipts.map(({ status, errorCode = null, operatorError = null, happenedAt }) => ({
    status,
    errorCode,
    operatorError,
    at: happenedAt,
  })),
})
