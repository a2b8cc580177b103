import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import type { Direction, SendingMethod, StatusWord } from './found-message.ts'

export const sortKeys = ['createdTime', 'sentTime', 'statusTime'] as const
export type Order = { by: (typeof sortKeys)[number]; descending: boolean }

/** What is looked for. A list has each value once and means any of them; what is absent does not matter. */
export type Filter = {
  directions: readonly Direction[]
  /** Ours or the client's own. */
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
  /** Bounds, included, of when it was sent, or given up unsent; what still waits has no such time. */
  from?: Date | undefined
  to?: Date | undefined
  containing?: string | undefined
  notContaining?: string | undefined
  cascadeUuid?: string | undefined
  /** No later step of a cascade. */
  isRoot?: boolean | undefined
  isReadyToStop?: boolean | undefined
  countryCode?: string | undefined
  isOfDispatch?: boolean | undefined
}

/** Whether only the direction matters. */
export const isEmptyFilter = ({ directions: _, ...filters }: Filter) =>
  Object.values(filters).every(value => value === undefined)

/** The largest total that is told; the pages end there too. */
export const MOST_FOUND = 10_000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Each once. */
export const uuidsAmong = (ids: string[]): string[] => [
  ...new Set(ids.filter(id => UUID.test(id)).map(id => id.toLowerCase())),
]

/** Keys between which something lies, both included. */
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
/** A single message waits for 70 days at most until it is sent or given up; the rest is for what waits on the way. */
const LONGEST_WAIT_MS = 80 * DAY_MS
/** Clocks differ: what was sent by one may have been written by another a little later. */
const SLACK_MS = 60_000

/** The smallest key of a single message that can have been sent at that time or after it. */
export const leastSentFrom = (from: Date) => `${prefixOf(from.getTime() - LONGEST_WAIT_MS)}-0000-0000-000000000000`

/** The greatest key of a message that can have been sent until then. */
export const greatestSentTo = (to: Date) => `${prefixOf(to.getTime() + SLACK_MS)}-ffff-ffff-ffffffffffff`

/** No key of an earlier moment is greater, and none of this one is smaller. */
export const keyAt = (moment: Date) => `${prefixOf(moment.getTime())}-0000-0000-000000000000`

function prefixOf(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
