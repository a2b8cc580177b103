import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import type { ProviderReceipt } from './receipt.ts'

export type Submission = { providerId: string; companyId: number; uuid: string; part: number; parts: number }

/** The submissions with these ids. The newest is last. */
export function selectSubmissions(sql: Sql, gatewayId: number, providerIds: string[]) {
  return sql<Submission[]>`
    select provider_id, company_id, message_uuid as uuid, part, parts
    from submissions
    where gateway_id = ${gatewayId} and provider_id = any(${providerIds}::text[])
    order by day, message_uuid`
}

export function selectAcceptedParts(
  sql: Sql,
  { companyId, gatewayId, uuids }: { companyId: number; gatewayId: number; uuids: string[] },
) {
  return sql<Pick<Submission, 'uuid' | 'part' | 'providerId'>[]>`
    select message_uuid as uuid, part, provider_id from submissions
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and parts > 1 and gateway_id = ${gatewayId}
    order by day`
}

/** Makes PostgreSQL join key by key. See `updateStatuses` for the reason. */
const oneByOne = (sql: Sql) => sql`offset 0`

/** The messages of a company among these that are not final. */
export function selectOpen(sql: Sql, companyId: number, uuids: string[]) {
  const range = uuidRange(uuids)
  return sql<{ uuid: string }[]>`
    select m.message_uuid as uuid from unnest(${uuids}::uuid[]) q (message_uuid)
    cross join lateral (
      select m.message_uuid from messages m
      where m.company_id = ${companyId} and m.message_uuid = q.message_uuid
        and m.message_uuid between ${range.first} and ${range.last} and m.status in ('CREATED', 'SENT')
      ${oneByOne(sql)}) m`
}

/** The destinations of messages of a company, and whether each is not final. */
export function selectSubmittedMessages(sql: Sql, companyId: number, uuids: string[]) {
  const range = uuidRange(uuids)
  return sql<{ uuid: string; destination: string; isOpen: boolean; sentAt: Date | null }[]>`
    select m.message_uuid as uuid, m.destination, m.status in ('CREATED', 'SENT') as is_open, m.sent_at
    from unnest(${uuids}::uuid[]) q (message_uuid)
    cross join lateral (
      select m.message_uuid, m.destination, m.status, m.sent_at from messages m
      where m.company_id = ${companyId} and m.message_uuid = q.message_uuid
        and m.message_uuid between ${range.first} and ${range.last}
      ${oneByOne(sql)}) m`
}

/** Locks the rows in one order, so that two engines with receipts for the same parts do not deadlock. */
export function setPartStatuses(sql: Sql, gatewayId: number, parts: (Submission & Pick<ProviderReceipt, 'status'>)[]) {
  return sql`
    with reported as materialized (
      select s.provider_id, s.day, s.message_uuid, s.part, q.status
      from unnest(
        ${parts.map(({ providerId }) => providerId)}::text[], ${parts.map(({ uuid }) => uuid)}::uuid[],
        ${parts.map(({ part }) => part)}::smallint[], ${parts.map(({ status }) => status)}::text[]
      ) q (provider_id, message_uuid, part, status)
      join submissions s on s.gateway_id = ${gatewayId} and s.provider_id = q.provider_id and s.message_uuid = q.message_uuid
        and s.part = q.part
      where s.status = 'SENT'
      order by s.day, s.provider_id, s.message_uuid, s.part
      for update of s)
    update submissions s set status = reported.status from reported
    where s.gateway_id = ${gatewayId} and s.provider_id = reported.provider_id and s.day = reported.day and s.message_uuid = reported.message_uuid
      and s.part = reported.part`
}

/** Messages with all parts delivered, or with a failed part. A message that was sent twice has its parts twice. */
export function selectEnds(sql: Sql, parts: Submission[]) {
  return sql<{ companyId: number; uuid: string; status: 'DELIVERED' | 'FAILED' }[]>`
    select s.company_id, s.message_uuid as uuid,
      case when bool_or(s.status = 'FAILED') then 'FAILED' else 'DELIVERED' end as status
    from submissions s
    join (select distinct * from unnest(
      ${parts.map(({ companyId }) => companyId)}::bigint[], ${parts.map(({ uuid }) => uuid)}::uuid[])) q (company_id, message_uuid)
      on s.company_id = q.company_id and s.message_uuid = q.message_uuid
    where s.parts > 1
    group by s.company_id, s.message_uuid
    having bool_or(s.status = 'FAILED') or count(distinct s.part) filter (where s.status = 'DELIVERED') >= max(s.parts)`
}

export function insertInbox(sql: Sql, gatewayId: number, receipts: ProviderReceipt[]) {
  return sql`
    insert into receipt_inbox (gateway_id, provider_id, own_id, status, error_code, operator_error, happened_at, is_unread,
      subscriber, claimed_until)
    select ${gatewayId}, q.provider_id, q.own_id, q.status, q.error_code, q.operator_error, q.happened_at, q.is_unread,
      q.subscriber, coalesce(clock_timestamp() + make_interval(secs => q.unsure_for_ms / 1000.0), '-infinity')
    from unnest(
      ${receipts.map(({ providerId }) => providerId)}::text[], ${receipts.map(({ ownId }) => ownId ?? null)}::text[],
      ${receipts.map(({ status }) => status)}::text[], ${receipts.map(({ errorCode }) => errorCode)}::int[],
      ${receipts.map(({ operatorError }) => operatorError ?? null)}::text[],
      ${receipts.map(({ happenedAt }) => happenedAt.toISOString())}::timestamptz[],
      ${receipts.map(({ isUnread }) => String(isUnread ?? false))}::text[]::boolean[],
      ${receipts.map(({ subscriber }) => subscriber ?? null)}::text[],
      ${receipts.map(({ unsure }) => unsure?.forMs ?? null)}::int[]
    ) q (provider_id, own_id, status, error_code, operator_error, happened_at, is_unread, subscriber, unsure_for_ms)`
}

/**
 * Claims receipts of the inbox that are due. A new receipt most likely waits for a commit, so it is due again soon. The
 * longer a receipt is in the inbox, the later it is due again. The statement skips rows that another engine has locked, so
 * engines do not deadlock.
 */
export function claimReceiptInbox(sql: Sql, limit: number) {
  return sql<(ProviderReceipt & { receiptId: number; gatewayId: number })[]>`
    with due as materialized (
      select receipt_id from receipt_inbox where claimed_until < clock_timestamp()
      order by claimed_until limit ${limit} for update skip locked)
    update receipt_inbox r set claimed_until = clock_timestamp()
      + least(interval '10 minutes', greatest(interval '400 ms', (clock_timestamp() - received_at) / 2))
    from due where r.receipt_id = due.receipt_id
    returning r.receipt_id, gateway_id, provider_id,
      own_id, status, error_code, operator_error, happened_at,
      is_unread, subscriber, received_at, received_at < clock_timestamp() - interval '1 minute' as is_old`
}

/** The newest receipts that arrived before a time. The newest is first. */
export const selectUnread = (sql: Sql, gatewayId: number, before: Date, limit: number) => sql<
  { id: string; subscriber: string | null }[]
>`
  select provider_id as id, subscriber from receipt_inbox
  where gateway_id = ${gatewayId} and is_unread and received_at < ${before}
  order by receipt_id desc limit ${limit}`

/** Makes receipts with ambiguous ids due at once, because the format of the ids is known now. */
export const makeUnreadReceiptsDue = (sql: Sql, gatewayId: number) => sql`
  update receipt_inbox set claimed_until = '-infinity'
  where receipt_id in (
    select receipt_id from receipt_inbox where gateway_id = ${gatewayId} and is_unread
    order by receipt_id for update skip locked)`

/** Locks the rows in the order of their ids, so that two engines that delete the same rows do not deadlock. */
export const deleteFromReceiptInbox = (sql: Sql, receiptIds: number[]) => sql`
  with done as materialized (
    select receipt_id from receipt_inbox where receipt_id = any(${receiptIds}::bigint[])
    order by receipt_id for update)
  delete from receipt_inbox r using done where r.receipt_id = done.receipt_id`

/** Two days are longer than the lifetime of a message, so an older receipt cannot match any more. */
export const deleteOldInbox = (sql: Sql, limit: number) => sql`
  with old as materialized (
    select receipt_id from receipt_inbox where received_at < now() - interval '2 days'
    order by received_at limit ${limit} for update skip locked)
  delete from receipt_inbox r using old where r.receipt_id = old.receipt_id`

export const ensureDays = (sql: Sql) => sql`select ensure_submission_days()`

export const dropOldDays = (sql: Sql) => sql`select drop_old_submission_days()`
