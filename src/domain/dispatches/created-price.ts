import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'

/** Subtracts the prices of messages that are no longer CREATED. A stop of the dispatch releases the amount that is left. */
export function reduceCreatedPrice(sql: Sql, companyId: number, byDispatch: Map<number, Money>) {
  return sql`
    update dispatches d set created_price = created_price - q.amount
    from unnest(${[...byDispatch.keys()]}::bigint[], ${[...byDispatch.values()].map(formatMoney)}::text[]::numeric[]) q (dispatch_id, amount)
    where d.company_id = ${companyId} and d.dispatch_id = q.dispatch_id`
}
