import type { ChannelType } from '../../base/channel-types.ts'

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
}

/** A lane with work in it, and everything that decides whether and how it may go now. */
export type RunnableLane = {
  companyId: number
  laneId: number
  dispatchId: number | null
  channelType: ChannelType
  brandId: number
  priority: number
  waiting: number
  senderId: number | null
  senderName: string
  senderStatus: string
  senderRate: number | null
  companyRate: number | null
  dispatchRate: number | null
  startAt: Date | null
  offsetMinutes: number | null
  hours: number[] | null
  days: number[] | null
  firstUuid: string | null
  lastUuid: string | null
}

/** How long a lease lasts without being renewed; who holds it stops submitting two seconds before. */
export const LEASE_SECONDS = 8

/** Places of a chunk that are left to be sent, and when. */
export type Run = { firstSeq: number; nextSeq: number; attempts: number; dueAt: Date }

/** Puts neighbouring places with the same number of attempts together: a busy operator leaves one run, not a thousand. */
export function runsOf(left: { seq: number; attempts: number; dueAt: Date }[]): Run[] {
  const runs: Run[] = []
  for (const { seq, attempts, dueAt } of left.toSorted((a, b) => a.seq - b.seq)) {
    const last = runs.at(-1)
    if (last && last.nextSeq === seq && last.attempts === attempts) {
      last.nextSeq = seq + 1
      if (dueAt > last.dueAt) last.dueAt = dueAt
    } else runs.push({ firstSeq: seq, nextSeq: seq + 1, attempts, dueAt })
  }
  return runs
}
