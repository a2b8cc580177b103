import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Direction, SendingMethod, StatusWord } from './found-message.ts'

export const sortKeys = ['createdTime', 'sentTime', 'statusTime'] as const
export type Order = { by: (typeof sortKeys)[number]; descending: boolean }

/** The filters of a search. A list has distinct values, and a message must have one of them. An absent filter matches all. */
export type Filter = {
  directions: readonly Direction[]
  /** Message keys or external ids. */
  messageIds?: string[] | undefined
  externalIds?: string[] | undefined
  dispatchIds?: number[] | undefined
  destinations?: string[] | undefined
  statuses?: StatusWord[] | undefined
  centerIds?: number[] | undefined
  tags?: string[] | undefined
  methods?: SendingMethod[] | undefined
  channelTypes?: ChannelType[] | undefined
  trafficTypes?: TrafficType[] | undefined
  templateIds?: number[] | undefined
  senderNames?: string[] | undefined
  /** Inclusive bounds of the time of sending, or of failure if the message was not sent. A waiting message has no such time. */
  from?: Date | undefined
  to?: Date | undefined
  containing?: string | undefined
  notContaining?: string | undefined
  cascadeUuid?: string | undefined
  /** True: leaves out later steps of cascades. */
  isRoot?: boolean | undefined
  isReadyToStop?: boolean | undefined
  countryCode?: string | undefined
  isOfDispatch?: boolean | undefined
}

/** Whether the direction is the only filter. */
export const isEmptyFilter = ({ directions: _, ...filters }: Filter) =>
  Object.values(filters).every(value => value === undefined)

/** The greatest total of a search. Its pages end there too. */
export const MOST_FOUND = 10_000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The distinct uuids among these ids, in lower case. */
export const uuidsAmong = (ids: string[]): string[] => [
  ...new Set(ids.filter(id => UUID.test(id)).map(id => id.toLowerCase())),
]

/** A range of message keys, both ends included. */
export type Bounds = { least: string; greatest: string }

const LEAST = '00000000-0000-0000-0000-000000000000'
const GREATEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const boundsOf = (uuids: string[]): Bounds => ({
  least: uuids.reduce((a, b) => (a < b ? a : b)),
  greatest: uuids.reduce((a, b) => (a > b ? a : b)),
})

export const boundsFrom = (least: string | null | undefined, greatest: string | null | undefined): Bounds => ({
  least: least ?? LEAST,
  greatest: greatest ?? GREATEST,
})

export const overlapOf = (a: Bounds, b: Bounds): Bounds => ({
  least: a.least > b.least ? a.least : b.least,
  greatest: a.greatest < b.greatest ? a.greatest : b.greatest,
})

const DAY_MS = 24 * 3600_000
/** A single message waits for at most 70 days until it is sent or fails. Ten days are added for delays while sending. */
const LONGEST_WAIT_MS = 80 * DAY_MS
/** Clocks differ: the key of a message may have a slightly later time than its sending. */
const SLACK_MS = 60_000

/** The smallest key of a single message that may have been sent at this time or later. */
export const leastSentFrom = (from: Date) => `${prefixOf(from.getTime() - LONGEST_WAIT_MS)}-0000-0000-000000000000`

/** The greatest key of a message that may have been sent at this time or earlier. */
export const greatestSentTo = (to: Date) => `${prefixOf(to.getTime() + SLACK_MS)}-ffff-ffff-ffffffffffff`

/** The smallest key of this moment. All keys of earlier moments are smaller. */
export const keyAt = (moment: Date) => `${prefixOf(moment.getTime())}-0000-0000-000000000000`

function prefixOf(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
