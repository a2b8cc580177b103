import type { ChannelType } from '../../base/channel-types.ts'
import type { Content } from '../../base/content/content.ts'
import type { SendingWindow } from '../../base/time/sending-window.ts'

/** A chunk of a lane in our hands: places from `firstSeq` up to but not including `nextSeq`. */
export type Lease = {
  companyId: number
  leaseId: number
  laneId: number
  firstSeq: number
  nextSeq: number
  token: string
  /** How often its messages were tried before. */
  attempts: number
  /** It was taken from someone who may be frozen, and may still tell what became of it. */
  wasHeld?: boolean
}

/** A lane with work in it, or a lease of one to be taken over, and what decides whether and how it may go now. */
export type RunnableLane = {
  leaseId?: number
  /** Of a lease: the gateway that may have taken something of it, while it is there and in use. */
  gatewayId?: number | null
  companyId: number
  laneId: number
  dispatchId: number | null
  channelType: ChannelType
  brandId: number
  priority: number
  waiting: number
  /** Seconds since 1970; minus infinity for one that was never served. */
  servedAt: number
  /** None for a name that needs no registration. */
  senderId: number | null
  senderName: string
  senderStatus: string
  senderRate: number | null
  companyRate: number | null
  dispatchRate: number | null
  startAt: Date | null
  /** What is not sent by then is not sent at all. */
  endAt: Date | null
  /** The zone whose clock its hours and days are read on; without one they are read at `offsetMinutes`. */
  zone: string | null
  offsetMinutes: number | null
  hours: number[] | null
  days: number[] | null
  /** What the messages of a dispatch show beyond their texts. */
  content: Content | null
  /** Of a dispatch by cascade: how long its first step may be under way once it is handed over. */
  ttlSeconds: number | null
  firstUuid: string | null
  lastUuid: string | null
}

/** A lane with messages left to send, as it is shown to people: also one that may not go now. */
export type WaitingLane = RunnableLane & { isCompanyActive: boolean; isSuspended: boolean }

/** A lane, or a lease of one, and where it stands among those that are read page by page: `place` is an exact time. */
export type PagedLane = RunnableLane & { place: string; placeId: number }

/** What a company has to send in one channel. */
export type Queue = { companyId: number; channelType: ChannelType }

/** The last one of a page: where the next page begins. */
export type Place = { place: string; id: number }
export type QueuePage = Queue & { after?: Place | undefined }
export type LeasePage = { companyId: number; after?: Place | undefined }

/** The most lanes of a company that may wait to be sent at once: every turn may have to read through them. */
export const MOST_WAITING_LANES = 5000

/** When a lane may send; undefined when it may at any time. */
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

/** A lane of names without registration: each of its messages has a name of its own. */
export const isShared = ({ senderId, senderName }: RunnableLane) => senderId === null && senderName === ''

/** Nothing of it may be sent any more. */
export const isOver = ({ endAt }: RunnableLane, now: Date) => endAt !== null && now >= endAt

/** How long a lease lasts without being renewed; who holds it stops submitting two seconds before. */
/** The priority of authorization codes: the engine serves them in a loop of their own, before everything else. */
export const CODES = 0

export const LEASE_SECONDS = 8

/** Places of a chunk that are left to be sent, and when. */
export type Run = { firstSeq: number; nextSeq: number; attempts: number; dueAt: Date; gatewayId?: number }

/** A message that is still to be sent; with the gateway that may have taken something of it. */
export type Left = { seq: number; attempts: number; dueAt: Date; gatewayId?: number }

/** Retries that are due within this time of each other wait for the last of them. */
const SAME_TIME_MS = 1000

/**
 * Puts places together that are to be tried again at about the same time: an operator that is busy for every third
 * message leaves one run, not a thousand. A run may reach over places that are done with, because who takes it sends
 * only what is still CREATED; never over one that is left and belongs to another run.
 */
export function runsOf(left: Left[]): Run[] {
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
