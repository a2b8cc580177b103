import type { ChannelType } from '../../base/channel-types.ts'
import type { BoxKey } from '../../base/secret-box.ts'

export type Settings = Record<string, unknown>

/** One way out of the building, as it stands in the database. */
export type Gateway = {
  gatewayId: number
  name: string
  channelType: ChannelType
  connector: string
  /** Brand ids it serves; none means every one. */
  brands: number[]
  /** The settings that are not secret. */
  settings: Settings
  /** The secret settings, encrypted. */
  sealed: Buffer | null
  partsPerSecond: number | null
  /** Takes nothing new; what the operator has, it still reports. */
  paused: boolean
  pausedAt: Date | null
  /** Of a pause that lets the operator report all it has: no longer than this. */
  drainUntil: Date | null
  /** The companies that may send under its names without a registration; see `name-owners.ts`. */
  companies: number[]
  /** Counts its changes. */
  version: number
}

type Kept = 'gatewayId' | 'paused' | 'pausedAt' | 'drainUntil' | 'sealed' | 'companies' | 'version'

export type NewGateway = Omit<Gateway, Kept> & {
  companies?: number[]
}

/** The rules for the settings of a connector: the names of its secrets, and the check of the values. */
export type SettingRules = {
  key: BoxKey
  secretNames: readonly string[]
  /** Throws an error that names the setting that is wrong. */
  check(settings: Settings): void
}

/** How a gateway is doing, over all engines. */
export type GatewayState = {
  gatewayId: number
  /** The number of engines that run the gateway. Without an engine its state is unknown. */
  engines: number
  up: boolean
  /** The connections that are up, and the connections that the contract allows, if the connector counts them. */
  bound: number
  wanted: number
  /** Messages under way, and most that may be. */
  open: number
  window: number
  /** Parts that were taken within the last minute. */
  partsLastMinute: number
  lastError: string | null
  lastErrorAt: Date | null
  /** Of the last answers, 95 in 100 came within this time. */
  answerMs: number | null
}

/** How one engine's connection of a gateway is doing. */
export type OwnState = Omit<GatewayState, 'engines'> & Pick<Gateway, 'version'>

/** A field that is absent stays as it is; so does a setting that is not named, and one set to null is removed. */
export type GatewayChange = Partial<
  Pick<Gateway, 'name' | 'brands' | 'settings' | 'partsPerSecond' | 'paused' | 'drainUntil' | 'companies'>
>

/** How long the operator has to report what it has, unless told. */
export const DRAIN_HOURS = 4
export const MOST_DRAIN_HOURS = 48

/** A pause with an end: the gateway takes nothing new, and the operator has until then to report what it has. */
export const drain = (hours: number, now: Date): GatewayChange => ({
  paused: true,
  drainUntil: new Date(now.getTime() + hours * 3_600_000),
})

/** The drain is over when its time has passed, or when nothing is under way and no receipt is outstanding. */
export const isDrained = ({ drainUntil }: Pick<Gateway, 'drainUntil'>, outstanding: number, now: Date): boolean =>
  drainUntil !== null && (drainUntil <= now || outstanding === 0)

/** What a subscriber wrote to a simulated operator. */
export type SimulatedInbound = { from: string; to: string; text: string; receivedAt: Date; providerId: string }

/** How an operator writes ids in its receipts, and whether these name the number that the message went to. */
export type LearntReceiptIds = { relation: string; byAddress: boolean }

/**
 * The progress of an engine with the answers to its submissions. Submissions older than `behindMs` are answered and
 * recorded, except for `unanswered` submissions, which never get an answer. `open`: the most submissions that would stay
 * without an answer if the engine were killed now.
 */
export type OwnAnswers = { behindMs: number; unanswered: number; open: number }

export type AllAnswers = { answeredUntil: Date | null; unanswered: number }
