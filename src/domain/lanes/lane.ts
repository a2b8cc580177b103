import type { ChannelType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import type { SendingWindow } from '../../base/time/sending-window.ts'

/** The right of a worker to a chunk of a lane: the places from `firstSeq` up to, but not including, `nextSeq`. */
export type Lease = {
  companyId: number
  leaseId: number
  laneId: number
  firstSeq: number
  nextSeq: number
  token: string
  /** The number of earlier attempts to send its messages. */
  attempts: number
  /** It was taken over from another worker, which may be frozen and may still report results. */
  wasHeld?: boolean
}

/** A lane with messages, or a lease that can be taken over, with the settings that decide whether and how it may send. */
export type RunnableLane = {
  leaseId?: number
  /** For a lease: the gateway that may have accepted parts of its messages, if the gateway is in use. */
  gatewayId?: number | null
  companyId: number
  laneId: number
  dispatchId: number | null
  channelType: ChannelType
  brandId: number
  priority: number
  waiting: number
  /** Seconds since 1970. Minus infinity for a lane that was never served. */
  servedAt: number
  /** Null for a sender name that needs no registration. */
  senderId: number | null
  senderName: string
  senderStatus: string
  senderRate: number | null
  companyRate: number | null
  dispatchRate: number | null
  startAt: Date | null
  /** Messages are not sent after this time. */
  endAt: Date | null
  /** The time zone of `hours` and `days`. If it is null, they have the offset `offsetMinutes`. */
  zone: string | null
  offsetMinutes: number | null
  hours: number[] | null
  days: number[] | null
  /** The content of the messages of a dispatch beyond their texts. */
  content: Content | null
  /** For a cascade dispatch: the time that its first step may take after submission. */
  ttlSeconds: number | null
  firstUuid: string | null
  lastUuid: string | null
}

/** A lane with messages left to send, for display. It may be blocked. */
export type WaitingLane = RunnableLane & { isCompanyActive: boolean; isSuspended: boolean }

/**
 * A lane or a lease with its place in the paged list. `place` is an exact time. The same gateways serve all lanes with the same
 * `servingKey`: it consists of channel, brand and sender name.
 */
export type PagedLane = RunnableLane & { place: string; placeId: number; servingKey: string }

/** The lanes of a company in one channel. */
export type Queue = { companyId: number; channelType: ChannelType }

/** The place of the last row of a page. The next page begins after it. */
export type Place = { place: string; id: number }
/** `without`: lanes with these serving keys are not read. */
type PageBounds = { after?: Place | undefined; without?: readonly string[] | undefined }
export type QueuePage = Queue & PageBounds
export type LeasePage = { companyId: number } & PageBounds

/** Limit of the waiting lanes of a company, because a turn may have to read all of them. */
export const MOST_WAITING_LANES = 5000

/** The sending window of a lane. Undefined if the lane may send at any time. */
export function windowOf({
  startAt,
  endAt,
  hours,
  days,
  zone,
  offsetMinutes,
}: RunnableLane): SendingWindow | undefined {
  if (!startAt && !endAt) return undefined
  return { startAt, endAt, hours, days, zone: zone ? { name: zone } : { offsetMinutes: offsetMinutes ?? 0 } }
}

/** Whether the lane is shared by sender names without registration. Each of its messages has its own sender name. */
export const isShared = ({ senderId, senderName }: RunnableLane) => senderId === null && senderName === ''

/** Whether the end of the lane has passed, so that no message of it may be sent. */
export const isOver = ({ endAt }: RunnableLane, now: Date) => endAt !== null && now >= endAt

/** The priority of authorization codes. The engine sends them in a separate loop, before all other messages. */
export const CODES = 0

/** A lease expires after this time unless it is renewed. Its worker stops submitting two seconds earlier. */
export const LEASE_SECONDS = 8

/** A range of a chunk that is left to send, and the time when it is due. */
export type Run = { firstSeq: number; nextSeq: number; attempts: number; dueAt: Date; gatewayId?: number }

/** A message that is left to send, with the gateway that may have accepted a part of it. */
export type UnsentMessage = { seq: number; attempts: number; dueAt: Date; gatewayId?: number }

/** Retries that are due within this time are sent together, at the latest of their times. */
const SAME_TIME_MS = 1000

/**
 * Joins messages that are due at about the same time into runs. So an operator that is busy for every third message leaves
 * one run and not hundreds. A run may cover messages that are already final, because a worker sends only CREATED messages. It
 * never covers a message of another run.
 */
export function runsOf(left: UnsentMessage[]): Run[] {
  const runs: Run[] = []
  let earliest = 0
  for (const { seq, attempts, dueAt, gatewayId } of left.toSorted((a, b) => a.seq - b.seq)) {
    const last = runs.at(-1)
    const latest = Math.max(dueAt.getTime(), last?.dueAt.getTime() ?? 0)
    const isAlike = last?.attempts === attempts && last.gatewayId === gatewayId
    if (isAlike && latest - Math.min(earliest, dueAt.getTime()) <= SAME_TIME_MS) {
      last.nextSeq = seq + 1
      last.dueAt = new Date(latest)
      earliest = Math.min(earliest, dueAt.getTime())
    } else {
      runs.push({ firstSeq: seq, nextSeq: seq + 1, attempts, dueAt, ...(gatewayId ? { gatewayId } : {}) })
      earliest = dueAt.getTime()
    }
  }
  return runs
}
