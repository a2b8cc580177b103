import { acrossCompanies, reachable } from '../../db/reachable.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { KeyRange } from '../messages/texts.ts'

const NO_KEY = '00000000-0000-0000-0000-000000000000'

/** Companies whose texts are not removed up to this key. The company that waits longest comes first. */
export const selectBehind = (sql: Sql, beforeUuid: string, limit: number) =>
  acrossCompanies(
    sql,
    () => sql<{ companyId: number }[]>`
      select c.company_id from companies c left join text_removals t on t.company_id = c.company_id
      where coalesce(t.done_uuid, ${NO_KEY}::uuid) < ${beforeUuid} ${reachable(sql, 'c.company_id')}
      order by coalesce(t.done_uuid, ${NO_KEY}::uuid), c.company_id limit ${limit}`,
  )

/**
 * The key at which a batch ends: up to it no table has more rows than `count`. Undefined if every table has fewer rows before
 * the end. A callback has no such key: its time is used.
 */
export async function lastKeyOf(
  sql: Sql,
  companyId: number,
  { after, before }: { after: string; before: string },
  count: number,
): Promise<string | undefined> {
  const [row] = await sql<{ uuid: string }[]>`
    select uuid from (
      (select message_uuid as uuid from messages
      where company_id = ${companyId} and message_uuid > ${after} and message_uuid < ${before}
      order by message_uuid offset ${count - 1} limit 1)
      union all
      (select message_uuid from inbound_messages
      where company_id = ${companyId} and message_uuid > ${after} and message_uuid < ${before}
      order by message_uuid offset ${count - 1} limit 1)
      union all
      (select cascade_uuid from cascades
      where company_id = ${companyId} and cascade_uuid > ${after} and cascade_uuid < ${before}
      order by cascade_uuid offset ${count - 1} limit 1)
      union all
      (select uuid7_floor(happened_at + interval '1 millisecond') from callbacks
      where company_id = ${companyId} and happened_at > uuid7_time(${after}::uuid)
        and happened_at < uuid7_time(${before}::uuid)
      order by happened_at offset ${count - 1} limit 1)) ends
    where uuid < ${before} order by uuid limit 1`
  return row?.uuid
}

/** A row if a message among these keys is not final, a cascade is not finished, or a callback with an inbound text waits. */
export const selectUnfinished = (sql: Sql, companyId: number, { after, until }: KeyRange) => sql`
  (select 1 from messages
  where company_id = ${companyId} and message_uuid > ${after} and message_uuid <= ${until}
    and status not in ('DELIVERED', 'FAILED') limit 1)
  union all
  (select 1 from cascades
  where company_id = ${companyId} and cascade_uuid > ${after} and cascade_uuid <= ${until} and steps @? '$[*].request' limit 1)
  union all
  (select 1 from callbacks
  where company_id = ${companyId} and happened_at > uuid7_time(${after}::uuid) and happened_at <= uuid7_time(${until}::uuid)
    and api = 'messaging' and status = 'WAITING' and events::text like '%"kind":"inbound"%' limit 1)
  limit 1`

export type Leftover = KeyRange & { companyId: number }

export const insertLeftover = (sql: Sql, companyId: number, { after, until }: KeyRange, checkAt: Date) => sql`
  insert into text_leftovers (company_id, after_uuid, until_uuid, check_at)
  values (${companyId}, ${after}, ${until}, ${checkAt}) on conflict do nothing`

export const selectLeftovers = (sql: Sql, now: Date, limit: number) =>
  acrossCompanies(
    sql,
    () => sql<Leftover[]>`
      select company_id, after_uuid as after, until_uuid as until from text_leftovers
      where check_at <= ${now} ${reachable(sql)} order by check_at limit ${limit}`,
  )

/** No row if another engine has it. */
export const lockLeftover = (sql: Transaction, { companyId, after }: Leftover, now: Date) => sql`
  select 1 from text_leftovers
  where company_id = ${companyId} and after_uuid = ${after} and check_at <= ${now} for update skip locked`

export const delayLeftover = (sql: Sql, { companyId, after }: Leftover, checkAt: Date) => sql`
  update text_leftovers set check_at = ${checkAt} where company_id = ${companyId} and after_uuid = ${after}`

export const deleteLeftover = (sql: Sql, { companyId, after }: Leftover) => sql`
  delete from text_leftovers where company_id = ${companyId} and after_uuid = ${after}`

/** A row if some keys below the end of the range still wait for the removal of their texts. */
export const selectLeftIn = (sql: Sql, { after, until }: KeyRange) => sql`
  select 1 from text_leftovers where after_uuid < ${until} and until_uuid >= ${after} limit 1`
