import type { Move, Mover, ReviewStatus } from '../../../domain/senders/sender.ts'

/**
 * A status of a sender name or template in its history. It does not name staff, because the service makes the decision.
 */
export type HistoryItem = { at: Date; status: ReviewStatus; by: Mover | null; comment: string | null }

/** The history of statuses, the newest first. Its oldest entry is the request. */
export function historyOf(createdAt: Date, moves: Move[]): HistoryItem[] {
  const items = withoutSteps(moves).map(({ movedAt: at, to: status, by, comment }) => ({ at, status, by, comment }))
  return [...items.reverse(), { at: createdAt, status: 'DRAFT', by: null, comment: null }]
}

/** An approval passes the remaining statuses at the same moment. The history shows only the last of them. */
const withoutSteps = (moves: Move[]) =>
  moves.filter((move, i) => {
    const next = moves[i + 1]
    return next?.by !== move.by || next.movedAt.getTime() !== move.movedAt.getTime()
  })

export const moverOf = { COMPANY: 'company', PARTNER: 'partner', STAFF: 'staff' } as const satisfies Record<
  string,
  Mover
>
