import type { ReviewActor, ReviewChange, ReviewStatus } from '../../../domain/review/review.ts'

/**
 * A status of a sender name or template in its history. It does not name staff, because the service makes the decision.
 */
export type HistoryItem = { at: Date; status: ReviewStatus; by: ReviewActor | null; comment: string | null }

/** The history of statuses, the newest first. Its oldest entry is the request. */
export function historyOf(createdAt: Date, changes: ReviewChange[]): HistoryItem[] {
  const items = withoutSteps(changes).map(({ changedAt: at, to: status, by, comment }) => ({ at, status, by, comment }))
  return [...items.reverse(), { at: createdAt, status: 'DRAFT', by: null, comment: null }]
}

/** An approval passes the remaining statuses at the same moment. The history shows only the last of them. */
const withoutSteps = (changes: ReviewChange[]) =>
  changes.filter((change, i) => {
    const next = changes[i + 1]
    return next?.by !== change.by || next.changedAt.getTime() !== change.changedAt.getTime()
  })

export const reviewActorOf = { COMPANY: 'company', PARTNER: 'partner', STAFF: 'staff' } as const satisfies Record<
  string,
  ReviewActor
>
