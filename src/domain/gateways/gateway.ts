import type { ChannelType } from '../../base/channel-types.ts'
import type { BoxKey } from '../../base/secret-box.ts'

export type Settings = Record<string, unknown>

/** A configured connection to an operator or a provider: a row of `gateways`. */
export type Gateway = {
  gatewayId: number
  name: string
  channelType: ChannelType
  connector: string
  /** The ids of the brands that it serves. An empty list means all brands. */
  brands: number[]
  /** The settings that are not secret. */
  settings: Settings
  /** The secret settings, encrypted. */
  sealed: Buffer | null
  partsPerSecond: number | null
  /** The gateway gets no new messages. It still receives receipts. */
  paused: boolean
  pausedAt: Date | null
  /** The end of a drain: a pause in which the gateway waits for the outstanding receipts. */
  drainUntil: Date | null
  /** The companies that may send under its names without a registration; see `name-owners.ts`. */
  companies: number[]
  /** The number of changes of the row. */
  version: number
}

type SetByService = 'gatewayId' | 'paused' | 'pausedAt' | 'drainUntil' | 'sealed' | 'companies' | 'version'

export type NewGateway = Omit<Gateway, SetByService> & {
  companies?: number[]
}

/** The rules for the settings of a connector: the names of its secrets, and the check of the values. */
export type SettingRules = {
  key: BoxKey
  secretNames: readonly string[]
  /** Throws an error that names the setting that is wrong. */
  check(settings: Settings): void
}

/** The state of a gateway, summed over all engines. */
export type GatewayState = {
  gatewayId: number
  /** The number of engines that run the gateway. Without an engine its state is unknown. */
  engines: number
  up: boolean
  /** The connections that are up, and the connections that the operator allows, if the connector counts them. */
  bound: number
  wanted: number
  /** The messages that are submitted without an answer, and their limit. */
  open: number
  window: number
  /** The parts that the operator accepted within the last minute. */
  partsLastMinute: number
  lastError: string | null
  lastErrorAt: Date | null
  /** 95 of 100 of the last answers came within this time. */
  answerMs: number | null
}

/** The state of a gateway in one engine. */
export type OwnState = Omit<GatewayState, 'engines'> & Pick<Gateway, 'version'>

/** An absent field or setting does not change. A setting that is null is removed. */
export type GatewayChange = Partial<
  Pick<Gateway, 'name' | 'brands' | 'settings' | 'partsPerSecond' | 'paused' | 'drainUntil' | 'companies'>
>

/** The default length of a drain. */
export const DRAIN_HOURS = 4
export const MOST_DRAIN_HOURS = 48

/** A pause with an end: the gateway gets no new messages and waits for the outstanding receipts until then. */
export const drain = (hours: number, now: Date): GatewayChange => ({
  paused: true,
  drainUntil: new Date(now.getTime() + hours * 3_600_000),
})

/** The drain is over when its time has passed, or when no receipt is outstanding. */
export const isDrained = ({ drainUntil }: Pick<Gateway, 'drainUntil'>, outstanding: number, now: Date): boolean =>
  drainUntil !== null && (drainUntil <= now || outstanding === 0)

/** A message of a subscriber to a simulated operator. */
export type SimulatedInbound = { from: string; to: string; text: string; receivedAt: Date; providerId: string }

/** How an operator writes ids in its receipts, and whether its receipts contain the destination. */
export type LearntReceiptIds = { relation: string; byAddress: boolean }

/**
 * The progress of an engine with the answers to its submissions. Submissions older than `behindMs` are answered and
 * recorded, except for `unanswered` submissions, which never get an answer. `open`: the most submissions that would stay
 * without an answer if the engine were killed now.
 */
export type OwnAnswers = { behindMs: number; unanswered: number; open: number }

export type AllAnswers = { answeredUntil: Date | null; unanswered: number }
