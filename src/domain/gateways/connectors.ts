import type { ChannelType } from '../../base/channel-types.ts'
import type { ConnectorDescription } from '../../base/setting-fields.ts'
import type { Gateway, SettingRules } from './gateway.ts'

/** The functions of connectors that the cabinet uses. The process that serves the cabinet provides them. */
export type Connectors = {
  descriptions: readonly ConnectorDescription<ChannelType>[]
  settingRulesOf(connector: string): SettingRules
  /** Sends one message through a gateway, over a connection of its own. Throws a UsageError with the mistake. */
  tryOut(gateway: Gateway, trial: TrialMessage): Promise<TrialReport>
}

export type TrialMessage = { to: string; sender: string; text: string; waitMs: number }

/** The answer of the operator. `lost`: the connection ended before the operator answered. */
export type TrialReport = {
  outcome: 'accepted' | 'refused' | 'busy' | 'unknown' | 'lost'
  isDelivered: boolean
  providerIds: string[]
  reason: string | null
  errorCode: number | null
  operatorError: string | null
  receipts: { status: string; errorCode: number | null; operatorError: string | null; at: Date }[]
}
