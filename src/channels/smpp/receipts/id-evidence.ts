import { isSameNumber } from '../../../base/phone/same-number.ts'
import { CANDIDATES, type IdRelation, type LearntIds, submittedId } from './message-ids.ts'

export type UnreadReceipt = { id: string; subscriber: string | undefined }

export type Evidence = {
  /** The newest last. Every submission before a receipt has its answer, or will never have one. */
  receipts: UnreadReceipt[]
  /** The destinations that were submitted under an id. */
  destinationsOf: (keptId: string) => string[]
  /** The number of submissions without an answer: their receipts fit no reading, or by chance a wrong reading. */
  unanswered: number
}

export const MOST_JUDGED = 2000
/** This share of receipts may fit no reading: receipts of submissions that are already forgotten. */
const MOST_MISFITS = 0.1
/** If receipts do not contain the number, so many more receipts are needed. */
const MORE_WITHOUT_ADDRESS = 10

/**
 * Finds out from all receipts together how an operator writes ids. A receipt fits a reading if there is a submission with
 * that id to that number. A reading is right if nearly all receipts fit it, and if more receipts contradict each other
 * reading than submissions without an answer could cause. When every submission has its answer, every receipt fits the
 * right reading, so no other reading can win. Without a clear winner there is no result, and the receipts wait.
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

/** A repeated receipt counts once. */
function distinct(receipts: UnreadReceipt[]): UnreadReceipt[] {
  return [...new Map(receipts.map(receipt => [`${receipt.id} ${receipt.subscriber ?? ''}`, receipt])).values()]
}

/** For each receipt, the readings that it fits. */
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

/** The receipts that fit only the first reading, minus the receipts that fit only the other. */
function lead(fits: Set<IdRelation>[], one: IdRelation, other: IdRelation): number {
  const only = (a: IdRelation, b: IdRelation) => fits.filter(fitting => fitting.has(a) && !fitting.has(b)).length
  return only(one, other) - only(other, one)
}
