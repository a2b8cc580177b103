import type { Move, Mover, SenderStatus } from '../../../domain/senders/sender.ts'

/** A state that a sender name or a template came into. Of staff nobody is named: a decision is the service's. */
export type HistoryItem = { at: Date; status: SenderStatus; by: Mover | null; comment: string | null }

/** The history of states, the newest first. It begins with the request. */
export function historyOf(createdAt: Date, moves: Move[]): HistoryItem[] {
  const items = withoutSteps(moves).map(({ movedAt: at, to: status, by, comment }) => ({ at, status, by, comment }))
  return [...items.reverse(), { at: createdAt, status: 'DRAFT', by: null, comment: null }]
}

/** An approval passes the states that are left one after the other, in one moment: only the last of them tells something. */
const withoutSteps = (moves: Move[]) =>
  moves.filter((move, i) => {
    const next = moves[i + 1]
    return next?.by !== move.by || next.movedAt.getTime() !== move.movedAt.getTime()
  })

export const moverOf = { COMPANY: 'company', PARTNER: 'partner', STAFF: 'staff' } as const satisfies Record<
  string,
  Mover
>
