import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'

export type LateReceipt = {
  uuid: string
  status: 'DELIVERED' | 'FAILED'
  errorCode: number | null
  operatorError: string | null
  gatewayId: number | null
}

/** Adds receipts that differ from the status of the message. A repeated receipt does not differ. */
export function insertLateReceipts(sql: Sql, companyId: number, receipts: LateReceipt[], now: Date) {
  const range = uuidRange(receipts.map(({ uuid }) => uuid))
  return sql`
    insert into late_receipts (company_id, message_uuid, status, received_at, error_code, operator_error, gateway_id)
    select ${companyId}::bigint, q.message_uuid, q.status::message_status, ${now}::timestamptz, q.error_code, q.operator_error,
      q.gateway_id
    from unnest(
      ${receipts.map(({ uuid }) => uuid)}::uuid[], ${receipts.map(({ status }) => status)}::text[],
      ${receipts.map(({ errorCode }) => errorCode)}::integer[],
      ${receipts.map(({ operatorError }) => operatorError)}::text[],
      ${receipts.map(({ gatewayId }) => gatewayId)}::bigint[]) q (message_uuid, status, error_code, operator_error, gateway_id)
    cross join lateral (
      select m.status, m.operator_error from messages m
      where m.company_id = ${companyId} and m.message_uuid = q.message_uuid and m.message_uuid between ${range.first} and ${range.last}
        and m.status in ('DELIVERED', 'FAILED')
      offset 0) m
    where m.status::text <> q.status or m.operator_error is distinct from q.operator_error
    on conflict do nothing`
}

export const lateReceiptsOf = (sql: Sql, companyId: number, uuid: string) => sql<
  (Omit<LateReceipt, 'uuid' | 'gatewayId'> & { receivedAt: Date })[]
>`
  select status, received_at, error_code, operator_error
  from late_receipts where company_id = ${companyId} and message_uuid = ${uuid}
  order by received_at, status`

/** Counts at most up to `most`. */
export const countOfGateway = (sql: Sql, gatewayId: number, most: number) => sql<{ count: number }[]>`
  select count(*)::int as count from (
    select company_id from late_receipts
    where gateway_id = ${gatewayId} and received_at > now() - interval '1 day' limit ${most}) counted`

/** The newest receipts of all companies. */
export const selectNewestOfGateway = (sql: Sql, gatewayId: number, limit: number) => sql<
  (Omit<LateReceipt, 'gatewayId'> & { companyId: number; receivedAt: Date })[]
>`
  select company_id, message_uuid as uuid, status, received_at, error_code, operator_error
  from late_receipts where gateway_id = ${gatewayId} and received_at > now() - interval '1 day'
  order by received_at desc limit ${limit}`

/** The destinations of messages of a company. A detached message has no row. */
export function selectDestinations(sql: Sql, companyId: number, uuids: string[]) {
  const range = uuidRange(uuids)
  return sql<{ uuid: string; destination: string }[]>`
    select message_uuid as uuid, destination from messages
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[])
      and message_uuid between ${range.first} and ${range.last}`
}

export type LateReceiptKey = { companyId: number; uuid: string; status: string }

export const selectOldLateReceipts = (sql: Sql, limit: number) => sql<LateReceiptKey[]>`
  select company_id, message_uuid as uuid, status from late_receipts where received_at < now() - interval '30 days'
  order by received_at limit ${limit}`

export const deleteLateReceipts = (sql: Sql, companyId: number, keys: LateReceiptKey[]) => sql<{ uuid: string }[]>`
  delete from late_receipts r using unnest(
    ${keys.map(({ uuid }) => uuid)}::uuid[], ${keys.map(({ status }) => status)}::text[]) q (uuid, status)
  where r.company_id = ${companyId} and r.message_uuid = q.uuid and r.status = q.status::message_status
  returning r.message_uuid as uuid`
