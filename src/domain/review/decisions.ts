import { invalid } from '../../base/errors.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import {
  isOpen,
  isOver,
  isWaiting,
  type Moderation,
  type ReviewActor,
  type Reviewed,
  type ReviewStatus,
  stepsByEngine,
  stepsToApproval,
} from './review.ts'
import type { NewReviewChange } from './statements.ts'

/**
 * How the slice of sender names or of templates reads and changes its rows. `Due` has the columns that a review needs,
 * `Row` has all columns.
 */
export type ReviewedSlice<Due extends Reviewed, Row extends Due> = {
  noun: 'Sender' | 'Template'
  idOf(row: Due): number
  /** Locks the row until the transaction ends. Throws when it does not exist. */
  lock(sql: Transaction, id: number): Promise<Row>
  read(sql: Transaction, row: Row): Promise<Row>
  /** Changes the status of an unchanged row. Returns false when another process changed the row first. */
  changeStatus(sql: Transaction, row: Due, change: NewReviewChange): Promise<boolean>
}

/** A step of the engine: each row is one short transaction, and the next run takes the remaining rows. */
export const MOST_ROWS_OF_A_RUN = 500

/**
 * Changes the status of rows that are due. Each change depends on the status that was read, so several processes can do
 * this at the same time. Returns the number of changes.
 */
export async function advanceRows<Due extends Reviewed, Row extends Due>(
  pool: Pool,
  slice: ReviewedSlice<Due, Row>,
  rows: Due[],
  moderation: Moderation,
  now: Date,
): Promise<number> {
  let changes = 0
  for (const row of rows) {
    const steps = stepsByEngine(row, moderation, now)
    changes += await pool.begin(sql => passSteps(sql, slice, row, steps, { by: 'clock', at: now }))
  }
  return changes
}

type Decision = { comment?: string | undefined; now: Date }

/** Staff approve for the service and for the operator: the request passes all remaining steps. */
export function approve<Due extends Reviewed, Row extends Due>(
  sql: Transaction,
  slice: ReviewedSlice<Due, Row>,
  id: number,
  { comment, now }: Decision,
): Promise<Row> {
  return decide(sql, slice, id, async row => {
    if (!isOpen(row.status)) throw wrongStatus(slice, row, 'approved')
    await passSteps(sql, slice, row, stepsToApproval(row, now), { by: 'staff', comment, at: now })
  })
}

/** Asks for corrections. A draft is not submitted yet, and an approved request has passed the review. */
export function reject<Due extends Reviewed, Row extends Due>(
  sql: Transaction,
  slice: ReviewedSlice<Due, Row>,
  id: number,
  { comment, now }: Decision,
): Promise<Row> {
  return decide(sql, slice, id, async row => {
    if (!isWaiting(row.status)) throw wrongStatus(slice, row, 'rejected')
    await passSteps(sql, slice, row, ['REJECTED'], { by: 'staff', comment, at: now })
  })
}

/** Refuses for ever. */
export function deny<Due extends Reviewed, Row extends Due>(
  sql: Transaction,
  slice: ReviewedSlice<Due, Row>,
  id: number,
  { comment, now }: Decision,
): Promise<Row> {
  return decide(sql, slice, id, async row => {
    if (isOver(row.status)) throw wrongStatus(slice, row, 'denied')
    await passSteps(sql, slice, row, ['DENIED'], { by: 'staff', comment, at: now })
  })
}

async function decide<Due extends Reviewed, Row extends Due>(
  sql: Transaction,
  slice: ReviewedSlice<Due, Row>,
  id: number,
  decision: (row: Row) => Promise<void>,
): Promise<Row> {
  const row = await slice.lock(sql, id)
  await decision(row)
  return slice.read(sql, row)
}

const wrongStatus = <Due extends Reviewed, Row extends Due>(
  { noun, idOf }: ReviewedSlice<Due, Row>,
  row: Row,
  what: string,
) => invalid(`${noun} ${idOf(row)} is ${row.status} and cannot be ${what}`)

/** Gives a row several statuses, one after another. The last change gets the comment. Returns the number of changes. */
async function passSteps<Due extends Reviewed, Row extends Due>(
  sql: Transaction,
  slice: ReviewedSlice<Due, Row>,
  row: Due,
  steps: ReviewStatus[],
  { by, comment, at }: { by: ReviewActor; comment?: string | undefined; at: Date },
): Promise<number> {
  let from = row.status
  let changes = 0
  for (const to of steps) {
    const isLast = to === steps.at(-1)
    const changed = await slice.changeStatus(sql, row, { from, to, by, comment: isLast ? comment : undefined, at })
    if (!changed) break
    from = to
    changes += 1
  }
  return changes
}
