import type { Sql } from '../../db/sql.ts'

/** A submitted part of a message. */
export type PartOfMessage = { gatewayId: number; part: number; parts: number; providerId: string; status: string }

/** The settings are valid for one transaction. */
export const limitTime = (sql: Sql, timeoutMs: number) =>
  sql`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

/** `parts > 1` is the condition of the index. */
export const selectParts = (sql: Sql, companyId: number, uuid: string) => sql<PartOfMessage[]>`
  select distinct on (part, provider_id) gateway_id as gateway_id, part, parts, provider_id, status
  from submissions where company_id = ${companyId} and message_uuid = ${uuid} and parts > 1
  order by part, provider_id limit 100`

/** The submission is stored when its response is recorded, which may be after midnight. */
export const selectOnlyPart = (sql: Sql, companyId: number, uuid: string, sentAt: Date) => sql<PartOfMessage[]>`
  select gateway_id, part, parts, provider_id, status
  from submissions
  where day between ${dayOf(sentAt)}::date and ${dayOf(new Date(sentAt.getTime() + NOTED_WITHIN_MS))}::date
    and company_id = ${companyId} and message_uuid = ${uuid} and parts = 1
  limit 10`

const NOTED_WITHIN_MS = 10 * 60_000
const dayOf = (moment: Date) => moment.toISOString().slice(0, 10)

export type SubmittedPart = { gatewayId: number; providerId: string; uuid: string; part: number; parts: number }

export function insertSubmissions(sql: Sql, companyId: number, rows: SubmittedPart[], now: Date) {
  return sql`
    insert into submissions (gateway_id, provider_id, day, company_id, message_uuid, part, parts)
    select q.gateway_id, q.provider_id, ${now.toISOString().slice(0, 10)}::date, ${companyId}, q.message_uuid, q.part, q.parts
    from unnest(
      ${rows.map(row => row.gatewayId)}::bigint[], ${rows.map(row => row.providerId)}::text[],
      ${rows.map(row => row.uuid)}::uuid[], ${rows.map(row => row.part)}::smallint[],
      ${rows.map(row => row.parts)}::smallint[]
    ) q (gateway_id, provider_id, message_uuid, part, parts)
    on conflict do nothing`
}
