import type { Sql } from '../../db/sql.ts'

export type LateReceipt = {
  uuid: string
  status: 'DELIVERED' | 'FAILED'
  errorCode: number | null
  operatorError: string | null
}

/** Adds those that say something else than the message does. A repeated receipt says the same. */
export function insertLateReceipts(sql: Sql, companyId: number, receipts: LateReceipt[], now: Date) {
  const uuids = receipts.map(({ uuid }) => uuid).sort()
  return sql`
    insert into late_receipts (company_id, message_uuid, status, received_at, error_code, operator_error)
    select ${companyId}::bigint, q.uuid, q.status::message_status, ${now}::timestamptz, q.error_code, q.operator_error
    from unnest(
      ${receipts.map(({ uuid }) => uuid)}::uuid[], ${receipts.map(({ status }) => status)}::text[],
      ${receipts.map(({ errorCode }) => errorCode)}::integer[],
      ${receipts.map(({ operatorError }) => operatorError)}::text[]) q (uuid, status, error_code, operator_error)
    cross join lateral (
      select m.status, m.operator_error from messages m
      where m.company_id = ${companyId} and m.uuid = q.uuid and m.uuid between ${uuids[0]!} and ${uuids.at(-1)!}
        and m.status in ('DELIVERED', 'FAILED')
      offset 0) m
    where m.status::text <> q.status or m.operator_error is distinct from q.operator_error
    on conflict do nothing`
}

export const selectLateReceipts = (sql: Sql, companyId: number, uuid: string) => sql<
  (Omit<LateReceipt, 'uuid'> & { receivedAt: Date })[]
>`
  select status, received_at as "receivedAt", error_code as "errorCode", operator_error as "operatorError"
  from late_receipts where company_id = ${companyId} and message_uuid = ${uuid}
  order by received_at, status`

export const deleteOldLateReceipts = (sql: Sql, limit: number) => sql`
  with old as materialized (
    select company_id, message_uuid, status from late_receipts where received_at < now() - interval '30 days'
    order by received_at limit ${limit} for update skip locked)
  delete from late_receipts r using old
  where r.company_id = old.company_id and r.message_uuid = old.message_uuid and r.status = old.status`
