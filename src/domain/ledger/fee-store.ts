import { acrossCompanies, reachable } from '../../db/reachable.ts'
import type { Sql } from '../../db/sql.ts'
import type { DueFee } from './account.ts'

/**
 * Paid names that owe a month and have no entry for it. An APPROVED name owes each month from its approval to its end.
 * A name that ended after the month had begun owes that month, too. A name that the engine closed ended on its date, even
 * if the engine closed it later.
 */
export function selectDueFees(sql: Sql, month: string, billingZone: string, limit: number) {
  const read = () => sql<DueFee[]>`
    with edges as (
      select ${month}::date::timestamp at time zone ${billingZone} as first,
        (${month}::date + interval '1 month') at time zone ${billingZone} as next),
    owing as (
      select s.company_id, s.sender_id, s.fee from senders s, edges
      where s.status = 'APPROVED' and s.fee > 0 and (s.valid_to is null or s.valid_to > edges.first)
        ${reachable(sql, 's.company_id')}
      union all
      select s.company_id, s.sender_id, s.fee
      from edges
      join sender_moves m on m.to_status in ('DENIED', 'CLOSED') and m.moved_at > edges.first
      join senders s on s.company_id = m.company_id and s.sender_id = m.sender_id
      where s.fee > 0 and (m.to_status = 'DENIED' or s.valid_to is null or s.valid_to > edges.first)
        ${reachable(sql, 's.company_id')} ${reachable(sql, 'm.company_id')})
    select o.company_id, o.sender_id, o.fee from owing o, edges
    where not exists (
        select from ledger_entries e
        where e.company_id = o.company_id and e.sender_id = o.sender_id and e.month = ${month}
          and e.kind = 'SENDER_FEE' ${reachable(sql, 'e.company_id')})
      and not exists (
        select from sender_moves m
        where m.company_id = o.company_id and m.sender_id = o.sender_id and m.to_status = 'APPROVED'
          and m.moved_at >= edges.next ${reachable(sql, 'm.company_id')})
    order by o.company_id, o.sender_id
    limit ${limit}`
  return acrossCompanies(sql, read)
}

export function selectCharged(sql: Sql, companyId: number, month: string, senderIds: number[]) {
  return sql<{ senderId: number }[]>`
    select sender_id from ledger_entries
    where company_id = ${companyId} and sender_id = any(${senderIds}::bigint[]) and month = ${month}
      and kind = 'SENDER_FEE'`
}
