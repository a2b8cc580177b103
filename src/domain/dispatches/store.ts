import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { EndingLane } from '../lanes/lane-ends.ts'
import type { ClientDispatch, Dispatch, DispatchKey, DispatchStatus, NewDispatch, Purpose } from './dispatch.ts'

const columns = (sql: Sql) => sql`
  d.company_id, d.dispatch_id, d.name, d.status, d.channel_type,
  d.traffic_type, d.template_id, d.text, d.sender_ids,
  d.sender_name, d.center_id, d.options, d.cascade, d.api, d.start_at,
  d.callback_url, d.callback_events,
  d.price_estimate,
  d.tariff_ids, d.created_price, d.message_count,
  d.first_uuid, d.last_uuid,
  d.created_at, d.started_at, d.ended_at, c.currency`

export async function insertDispatchId(sql: Sql, companyId: number): Promise<DispatchKey & { now: Date }> {
  const [[id], [clock]] = await Promise.all([
    sql<{ dispatchId: number }[]>`insert into dispatch_ids (company_id) values (${companyId}) returning dispatch_id`,
    sql<{ now: Date }[]>`select clock_timestamp() as now`,
  ])
  if (!id || !clock) throw new Error('The id of the dispatch was not inserted')
  return { companyId, ...id, ...clock }
}

export function insertDispatch(
  sql: Sql,
  companyId: number,
  dispatchId: number,
  purpose: Purpose,
  dispatch: NewDispatch,
) {
  const { schedule } = dispatch
  return sql`
    insert into dispatches (
      company_id, dispatch_id, name, channel_type, traffic_type, template_id, text, sender_ids, start_at, offset_minutes,
      hours, days, callback_url, callback_events)
    values (
      ${companyId}, ${dispatchId}, ${dispatch.name}, ${dispatch.channelType}, ${purpose.trafficType},
      ${purpose.templateId}, ${dispatch.text}, ${dispatch.senderIds}, ${schedule?.startAt ?? null},
      ${schedule?.offsetMinutes ?? null}, ${schedule?.hours ?? null}, ${schedule?.days ?? null}, ${dispatch.callbackUrl ?? null},
      ${dispatch.callbackEvents ?? null})`
}

/** The sending window of a client's dispatch is in the time zones of its lanes. */
export function insertClientDispatch(
  sql: Sql,
  key: DispatchKey,
  purpose: Purpose,
  dispatch: ClientDispatch & { senderIds: number[] },
) {
  const { options, cascade } = dispatch
  return sql`
    insert into dispatches (
      company_id, dispatch_id, name, channel_type, traffic_type, template_id, text, sender_ids, sender_name, center_id,
      hours, days, parts_per_second, options, cascade, api, callback_url, callback_events)
    values (
      ${key.companyId}, ${key.dispatchId}, ${dispatch.name}, ${dispatch.channelType}, ${purpose.trafficType},
      ${purpose.templateId}, ${dispatch.text}, ${dispatch.senderIds}, ${dispatch.senderName}, ${dispatch.centerId},
      ${options.hours ?? null}, ${options.days ?? null}, ${dispatch.partsPerSecond}, ${sql.json(options)},
      ${cascade ? sql.json(cascade as never) : null}, 'messaging', ${dispatch.callbackUrl}, ${dispatch.callbackEvents})`
}

export const setEnded = (sql: Sql, key: DispatchKey) => sql`
  update dispatches set ended_at = statement_timestamp()
  where company_id = ${key.companyId} and dispatch_id = ${key.dispatchId}`

/** Adds the sums of a request. The range of message keys only grows. */
export function addToDispatch(
  sql: Sql,
  key: DispatchKey,
  added: { messages: number; estimate: Money; tariffIds: number[]; firstUuid: string; lastUuid: string },
) {
  return sql`
    update dispatches set
      message_count = message_count + ${added.messages},
      price_estimate = price_estimate + ${sql.typed.money(added.estimate)},
      created_price = created_price + ${sql.typed.money(added.estimate)},
      tariff_ids = array(select distinct unnest(tariff_ids || ${added.tariffIds}::bigint[])),
      first_uuid = least(first_uuid, ${added.firstUuid}::uuid),
      last_uuid = greatest(last_uuid, ${added.lastUuid}::uuid)
    where company_id = ${key.companyId} and dispatch_id = ${key.dispatchId}`
}

/** The results of an earlier request, for a repeated request. Accepted recipients have a lane. */
export function selectResults(sql: Sql, dispatch: Dispatch, from: number, count: number) {
  return sql<{ uuid: string; destination: string; errorCode: number | null }[]>`
    select message_uuid as uuid, destination, case when lane_id is null then error_code end as error_code from messages
    where company_id = ${dispatch.companyId} and dispatch_id = ${dispatch.dispatchId}
      and dispatch_position >= ${from} and dispatch_position < ${from + count}
      and message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
    order by dispatch_position`
}

/** A dispatch of this partner, from its bare id. */
export async function selectDispatch(sql: Sql, partnerId: number, dispatchId: number): Promise<Dispatch[]> {
  const [found] = await selectCompanies(sql, [dispatchId])
  if (!found) return []
  return sql<Dispatch[]>`
    select ${columns(sql)} from dispatches d join companies c using (company_id)
    where d.company_id = ${found.companyId} and d.dispatch_id = ${dispatchId} and c.partner_id = ${partnerId}`
}

export const selectCompanies = (sql: Sql, dispatchIds: number[]) => sql<{ companyId: number; dispatchId: number }[]>`
  select company_id, dispatch_id from dispatch_ids where dispatch_id = any(${dispatchIds}::bigint[])`

export function selectDispatchOf(sql: Sql, companyId: number, dispatchId: number) {
  return sql<Dispatch[]>`
    select ${columns(sql)} from dispatches d join companies c using (company_id)
    where d.company_id = ${companyId} and d.dispatch_id = ${dispatchId}`
}

/** Locks a dispatch that exists. Adding recipients, start and stop read the status under this lock. */
export async function lockDispatch(sql: Sql, companyId: number, dispatchId: number): Promise<Dispatch & { now: Date }> {
  const [dispatch] = await sql<(Dispatch & { now: Date })[]>`
    select ${columns(sql)}, clock_timestamp() as now from dispatches d join companies c using (company_id)
    where d.company_id = ${companyId} and d.dispatch_id = ${dispatchId} for update of d`
  if (!dispatch) throw new Error(`Dispatch ${dispatchId} of company ${companyId} does not exist`)
  return dispatch
}

type BlockSums = {
  createdMessages: number
  sentMessages: number
  deliveredMessages: number
  failedMessages: number
  createdParts: number
  sentParts: number
  deliveredParts: number
  failedParts: number
  unsentMessages: number
  unsentParts: number
}

export type DispatchWithSums = Dispatch & BlockSums

const withSums = (sql: Sql) => sql`
  cross join lateral (
    select coalesce(sum(created_messages), 0)::bigint as created_messages,
      coalesce(sum(sent_messages), 0)::bigint as sent_messages,
      coalesce(sum(delivered_messages), 0)::bigint as delivered_messages,
      coalesce(sum(failed_messages), 0)::bigint as failed_messages,
      coalesce(sum(created_parts), 0)::bigint as created_parts,
      coalesce(sum(sent_parts), 0)::bigint as sent_parts,
      coalesce(sum(delivered_parts), 0)::bigint as delivered_parts,
      coalesce(sum(failed_parts), 0)::bigint as failed_parts,
      coalesce(sum(unsent_messages), 0)::bigint as unsent_messages,
      coalesce(sum(unsent_parts), 0)::bigint as unsent_parts
    from dispatch_blocks b where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
  ) sums`

export async function selectDispatchWithSums(
  sql: Sql,
  partnerId: number,
  dispatchId: number,
): Promise<DispatchWithSums[]> {
  const [found] = await selectCompanies(sql, [dispatchId])
  if (!found) return []
  return sql<DispatchWithSums[]>`
    select ${columns(sql)}, sums.* from dispatches d join companies c using (company_id)
    ${withSums(sql)}
    where d.company_id = ${found.companyId} and d.dispatch_id = ${dispatchId} and c.partner_id = ${partnerId}`
}

export function selectDispatchOfWithSums(sql: Sql, companyId: number, dispatchId: number) {
  return sql<DispatchWithSums[]>`
    select ${columns(sql)}, sums.* from dispatches d join companies c using (company_id)
    ${withSums(sql)}
    where d.company_id = ${companyId} and d.dispatch_id = ${dispatchId}`
}

const ofStatus = (sql: Sql, status: DispatchStatus | undefined) => (status ? sql`and status = ${status}` : sql``)

/** Selects the page from the narrow index first, so that PostgreSQL does not read the rows of the pages before it. */
export function selectDispatches(
  sql: Sql,
  companyId: number,
  status: DispatchStatus | undefined,
  offset: number,
  limit: number,
) {
  return sql<DispatchWithSums[]>`
    select ${columns(sql)}, sums.* from (
      select company_id, dispatch_id from dispatches where company_id = ${companyId} ${ofStatus(sql, status)}
      order by dispatch_id desc offset ${offset} limit ${limit}
    ) page
    join dispatches d using (company_id, dispatch_id)
    join companies c using (company_id)
    ${withSums(sql)}
    order by d.dispatch_id desc`
}

export async function countDispatches(sql: Sql, companyId: number, status: DispatchStatus | undefined) {
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from dispatches where company_id = ${companyId} ${ofStatus(sql, status)}`
  return count?.total ?? 0
}

export function updateStatus(sql: Sql, key: DispatchKey, status: DispatchStatus) {
  return sql`
    update dispatches set status = ${status},
      started_at = ${status === 'STARTED' ? sql`least(started_at, statement_timestamp())` : sql`started_at`}
    where company_id = ${key.companyId} and dispatch_id = ${key.dispatchId}`
}

/** Sets dispatches without pending messages to COMPLETED, and returns the dispatches that changed. */
export function completeFinished(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<{ dispatchId: number }[]>`
    update dispatches d set status = 'COMPLETED', completed_at = statement_timestamp()
    where d.company_id = ${companyId} and d.dispatch_id = any(${dispatchIds}::bigint[])
      and d.status in ('STARTED', 'STOPPED')
      and not exists (
        select from dispatch_blocks b
        where b.company_id = d.company_id and b.dispatch_id = d.dispatch_id
          and b.created_messages + b.sent_messages > 0)
    returning d.dispatch_id`
}

/** For each MAU tariff: the recipients reached this month, and the new recipients that the dispatch could reach. */
export function selectReach(sql: Sql, dispatch: Dispatch, tariffIds: number[], month: string) {
  return sql<{ tariffId: number; reached: number; within: number }[]>`
    select t.tariff_id, coalesce(u.recipients, 0)::bigint as reached, (
      select count(distinct m.destination) from messages m
      where m.company_id = ${dispatch.companyId} and m.dispatch_id = ${dispatch.dispatchId}
        and m.message_uuid between ${dispatch.firstUuid} and ${dispatch.lastUuid}
        and m.tariff_id = t.tariff_id and m.status in ('CREATED', 'SENT')
        and not exists (
          select from tariff_recipients r
          where r.company_id = m.company_id and r.tariff_id = m.tariff_id and r.month = ${month}
            and r.destination = m.destination)
    ) as within
    from unnest(${tariffIds}::bigint[]) t (tariff_id)
    left join tariff_usage u
      on u.company_id = ${dispatch.companyId} and u.tariff_id = t.tariff_id and u.month = ${month}`
}

/** CREATED messages of a lane that no lease covers, from `fromSeq` on. */
export function selectUnsent(sql: Sql, lane: EndingLane, fromSeq: number, limit: number) {
  return sql<{ uuid: string; seq: number }[]>`
    select m.message_uuid as uuid, m.seq from messages m
    where m.company_id = ${lane.companyId} and m.lane_id = ${lane.laneId} and m.seq >= ${fromSeq}
      and m.message_uuid between ${lane.firstUuid} and ${lane.lastUuid} and m.status = 'CREATED'
      and not exists (
        select from leases e
        where e.company_id = m.company_id and e.lane_id = m.lane_id and e.worker is not null
          and m.seq >= e.first_seq and m.seq < e.next_seq)
    order by m.seq limit ${limit}`
}

/** Later steps of the dispatch's cascades that are not sent yet. */
export const waitingSteps = (sql: Sql, { companyId, dispatchId, firstUuid }: Dispatch) => sql`
  select m.company_id, m.message_uuid ${laterSteps(sql, companyId, dispatchId, firstUuid)} and m.status = 'CREATED'`

/** A row if a cascade of the dispatch can still send a step: a message waits, may fail before the last step, or may stay unread. */
export function selectOpenCascade(sql: Sql, { companyId, dispatchId, firstUuid }: Dispatch) {
  return sql`
    (select 1 ${laterSteps(sql, companyId, dispatchId, firstUuid)} and (m.status = 'CREATED'
        or m.status = 'SENT' and c.ended_at is null and m.cascade_step < jsonb_array_length(c.steps))
    limit 1)
    union all
    (select 1 from message_timers t
    join messages m on m.company_id = t.company_id and m.message_uuid = t.message_uuid
    join cascades c on c.company_id = m.company_id and c.cascade_uuid = m.cascade_uuid
    where t.company_id = ${companyId} and t.kind = 'step' and t.message_uuid >= ${firstUuid} and m.message_uuid >= ${firstUuid}
      and c.dispatch_id = ${dispatchId} and c.ended_at is null and c.next_step = m.cascade_step + 1
      and m.status = 'DELIVERED' and m.read_at is null
      and c.steps -> (m.cascade_step - 1) ->> 'condition' = 'not_read'
    limit 1)`
}

/** Found by the cascades that went on; the bound keeps the messages to the months that can have them. */
const laterSteps = (sql: Sql, companyId: number, dispatchId: number, firstUuid: string | null) => sql`
  from cascades c join messages m on m.company_id = c.company_id and m.cascade_uuid = c.cascade_uuid
  where c.company_id = ${companyId} and c.dispatch_id = ${dispatchId} and c.next_step > 2
    and m.company_id = ${companyId} and m.message_uuid >= ${firstUuid} and m.cascade_step > 1`
