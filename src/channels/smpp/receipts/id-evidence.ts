import { isSameNumber } from '../../../base/same-number.ts'
import { CANDIDATES, type IdRelation, type LearntIds, submittedId } from './message-ids.ts'

export type UnreadReceipt = { id: string; subscriber: string | undefined }

export type Evidence = {
  /** The newest last. Of each, all that was submitted before it came has been answered, or never will be. */
  receipts: UnreadReceipt[]
  /** The numbers that went out under an id. */
  destinationsOf: (keptId: string) => string[]
  /** How many submissions have no answer: their receipts fit nothing, or by chance a wrong reading. */
  unanswered: number
}

export const MOST_JUDGED = 2000
/** This share of receipts may fit nothing: those of submissions that nobody remembers. */
const MOST_MISFITS = 0.1
/** Where receipts do not name the number, ids alone must speak so much more clearly. */
const MORE_WITHOUT_ADDRESS = 10

/**
 * How an operator writes ids, by all receipts together. A receipt fits a reading when there is a submission under that
 * id, to that number. A reading is right when nearly all receipts fit it, and when for each other reading there are more
 * receipts that speak against it than submissions without an answer could bring about. When all answers are in, every
 * receipt fits the right reading, so that no other can win. Otherwise there is no result, and the receipts wait.
 */
export function readingOf(evidence: Evidence): LearntIds | undefined {
  const receipts = distinct(evidence.receipts).slice(-MOST_JUDGED)
  const needed = 1 + evidence.unanswered
  const byAddress = fitsOf(receipts, (kept, { subscriber }) =>
    evidence.destinationsOf(kept).some(destination => isSameNumber(destination, subscriber)),
  )
  const relation = winnerOf(byAddress, evidence.unanswered, needed)
  if (relation) return { relation, byAddress: true }
  if (byAddress.some(fits => fits.size > 0)) return undefined
  const byId = fitsOf(receipts, kept => evidence.destinationsOf(kept).length > 0)
  const alone = winnerOf(byId, evidence.unanswered, needed + MORE_WITHOUT_ADDRESS)
  return alone && { relation: alone, byAddress: false }
}

/** Told twice, a receipt is one. */
function distinct(receipts: UnreadReceipt[]): UnreadReceipt[] {
  return [...new Map(receipts.map(receipt => [`${receipt.id} ${receipt.subscriber ?? ''}`, receipt])).values()]
}

/** Of each receipt, the readings that it fits. */
function fitsOf(
  receipts: UnreadReceipt[],
  isThere: (kept: string, receipt: UnreadReceipt) => boolean,
): Set<IdRelation>[] {
  return receipts.map(receipt => {
    const fitting = CANDIDATES.filter(relation => {
      const kept = submittedId(receipt.id, relation)
      return kept !== undefined && isThere(kept, receipt)
    })
    return new Set(fitting)
  })
}

function winnerOf(fits: Set<IdRelation>[], unanswered: number, needed: number): IdRelation | undefined {
  return CANDIDATES.find(relation => {
    const misfits = fits.filter(fitting => !fitting.has(relation)).length
    if (misfits > fits.length * MOST_MISFITS + unanswered) return false
    return CANDIDATES.every(other => other === relation || lead(fits, relation, other) >= needed)
  })
}

/** How many more receipts fit the one and not the other than the other way round. */
function lead(fits: Set<IdRelation>[], one: IdRelation, other: IdRelation): number {
  const only = (a: IdRelation, b: IdRelation) => fits.filter(fitting => fitting.has(a) && !fitting.has(b)).length
  return only(one, other) - only(other, one)
}
