import { acrossCompanies, reachable } from '../../db/reachable.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import type { ReviewActor, ReviewChange, Reviewed, ReviewStatus } from './review.ts'

/**
 * Statements and parts of statements that sender names and templates share. The slice of each table writes it; the
 * statements here that take a table only read.
 */

export type ReviewedTable = {
  rows: 'senders' | 'templates'
  idColumn: 'sender_id' | 'template_id'
  /** The table of the status changes. */
  changes: 'sender_moves' | 'template_moves'
}

export type NewReviewChange = {
  from: ReviewStatus
  to: ReviewStatus
  by: ReviewActor
  comment?: string | undefined
  at: Date
}

/** The assignments of an update that changes the status. */
export const newStatus = (sql: Sql, change: NewReviewChange) => sql`
  status = ${change.to},
  manager_comment = ${commentAfter(sql, change)},
  rejected_at = ${change.to === 'REJECTED' ? change.at : null}`

/**
 * AWAITING ends the comment of an earlier rejection, because every approval passes it. The comment of the approval stays
 * until and after the first day.
 */
const commentAfter = (sql: Sql, { to, comment }: NewReviewChange) =>
  to === 'AWAITING' ? sql`${comment ?? null}::text` : sql`coalesce(${comment ?? null}, manager_comment)`

/** The condition that the dates of an unlocked row are still the dates that the change was decided on. */
export const hasDates = (sql: Sql, { validFrom, validTo }: Pick<Reviewed, 'validFrom' | 'validTo'>) => sql`
  ${sameMillisecond(sql, 'valid_from', validFrom)}
  and ${validTo ? sameMillisecond(sql, 'valid_to', validTo) : sql`valid_to is null`}`

/** The program reads moments in whole milliseconds. */
const sameMillisecond = (sql: Sql, column: string, moment: Date) => sql`
  ${sql(column)} >= ${moment} and ${sql(column)} < ${moment}::timestamptz + interval '1 millisecond'`

/** The values of the columns from_status, to_status, moved_by, comment and moved_at of a stored change. */
export const valuesOfChange = (sql: Sql, { from, to, by, comment, at }: NewReviewChange) =>
  sql`${from}, ${to}, ${by}, ${comment ?? null}, ${at}`

export type DueRows = { statuses: ReviewStatus[]; now: Date; limit: number; except?: Fragment }

/**
 * Rows whose status the engine has to change now. Requests that were submitted to staff, and rows with `except`, stay
 * under review.
 */
export function selectDueRows<Due extends object>(
  sql: Sql,
  { rows, idColumn, changes }: ReviewedTable,
  columns: Fragment,
  { statuses, now, limit, except = sql`false` }: DueRows,
) {
  const read = () => sql<Due[]>`
    select ${columns} from ${sql(rows)} r
    where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING')
      and status = any(${statuses}::text[]::review_status[]) and (status <> 'AWAITING' or valid_from <= ${now})
      and (status = 'AWAITING' or not (${except}))
      and (status = 'AWAITING' or not exists (
        select from ${sql(changes)} m
        where m.company_id = r.company_id and m.${sql(idColumn)} = r.${sql(idColumn)}
          and m.to_status = 'PRE_REVIEW' and m.moved_by = 'staff' ${reachable(sql, 'm.company_id')})) ${reachable(sql)}
    union all
    select ${columns} from ${sql(rows)} r
    where status in ('AWAITING', 'APPROVED') and valid_to <= ${now} ${reachable(sql)}
    limit ${limit}`
  return acrossCompanies(sql, read)
}

/** Far more changes than a review has. */
const MOST_CHANGES = 100

/** The latest changes, the oldest first. */
export const selectReviewChanges = (
  sql: Sql,
  { changes, idColumn }: ReviewedTable,
  companyId: number,
  id: number,
) => sql<ReviewChange[]>`
  select "from", "to", "by", comment, changed_at from (
    select move_id, from_status as "from", to_status as "to", moved_by as "by", comment, moved_at as changed_at
    from ${sql(changes)} where company_id = ${companyId} and ${sql(idColumn)} = ${id}
    order by move_id desc limit ${MOST_CHANGES}) latest
  order by move_id`

/** The condition that a row waits for staff. The index of waiting requests holds such rows only. */
export const waits = (sql: Sql, row: Fragment) =>
  sql`${row}.status in ('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW')`

/** A join that gives the time of the last submission as `submitted.at`. */
export const joinSubmission = (sql: Sql, { changes, idColumn }: ReviewedTable, row: Fragment) => sql`
  left join lateral (
    select max(m.moved_at) as at from ${sql(changes)} m
    where m.company_id = ${row}.company_id and m.${sql(idColumn)} = ${row}.${sql(idColumn)}
      and m.to_status = 'PRE_REVIEW') submitted on true`

export async function countWaitingRows(sql: Sql, { rows }: ReviewedTable): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*)::int as waiting from ${sql(rows)} r where ${waits(sql, sql`r`)}`
  return row?.waiting ?? 0
}
