import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { NewSender, Sender, SenderChange, SenderStatus } from './sender.ts'

const columns = (sql: Sql) => sql`
  s.sender_id as "senderId", s.company_id as "companyId", s.sender_name as "senderName",
  s.channel_type as "channelType", s.common_type as "commonType", s.brand, s.country_code as "countryCode",
  s.date_from as "dateFrom", s.date_to as "dateTo", s.status, s.suspended, s.suspend_reason as "suspendReason",
  s.fee, s.manager_comment as "managerComment", s.rejected_at as "rejectedAt", s.created_at as "createdAt",
  s.parts_per_second as "partsPerSecond",
  c.counteragent_name as "counteragentName", c.counteragent_inn as "counteragentInn"`

const fromSenders = (sql: Sql) => sql`from senders s join companies c using (company_id)`

export function insertSenderId(sql: Sql, companyId: number) {
  return sql<{ senderId: number }[]>`
    insert into sender_ids (company_id) values (${companyId}) returning sender_id as "senderId"`
}

export function insertSender(sql: Sql, companyId: number, senderId: number, sender: NewSender) {
  return sql`
    insert into senders (
      company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, description, document_ids,
      date_from)
    values (
      ${companyId}, ${senderId}, ${sender.senderName}, ${sender.channelType}, ${sender.commonType}, ${sender.brand},
      ${sender.countryCode}, ${sender.description ?? null}, ${sender.documentIds}, ${sender.dateFrom})`
}

/** The resolver: from a bare id to its company. */
export const selectCompanyOf = (sql: Sql, senderId: number) =>
  sql<{ companyId: number }[]>`select company_id as "companyId" from sender_ids where sender_id = ${senderId}`

export function selectSender(sql: Sql, companyId: number, senderId: number) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)} where s.company_id = ${companyId} and s.sender_id = ${senderId}`
}

/** A sender of this partner, from its bare id. */
export function selectSenderOfPartner(sql: Sql, partnerId: number, senderId: number) {
  return sql<Sender[]>`
    select ${columns(sql)} from sender_ids i
    join senders s on s.company_id = i.company_id and s.sender_id = i.sender_id
    join companies c on c.company_id = s.company_id
    where i.sender_id = ${senderId} and c.partner_id = ${partnerId}`
}

export function selectSenderForUpdate(sql: Sql, companyId: number, senderId: number) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_id = ${senderId} for update of s`
}

export function selectSendersByIds(sql: Sql, companyId: number, senderIds: number[]) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_id = any(${senderIds}::bigint[])`
}

export function selectSendersByNames(sql: Sql, companyId: number, names: string[]) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_name = any(${names}::text[])
    order by s.sender_id`
}

export type SenderFilter = Partial<Record<'brand' | 'commonType' | 'status' | 'channelType' | 'countryCode', string[]>>

const filtered = (sql: Sql, companyId: number, filter: SenderFilter) => {
  const oneOf = (column: string, values: string[] | undefined) =>
    values?.length ? sql`and s.${sql(column)}::text = any(${values})` : sql``
  return sql`
    where s.company_id = ${companyId}
      ${oneOf('brand', filter.brand)} ${oneOf('common_type', filter.commonType)} ${oneOf('status', filter.status)}
      ${oneOf('channel_type', filter.channelType)} ${oneOf('country_code', filter.countryCode)}`
}

export function selectSenders(sql: Sql, companyId: number, filter: SenderFilter) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)} ${filtered(sql, companyId, filter)} order by s.sender_id`
}

export const countSenders = (sql: Sql, companyId: number, filter: SenderFilter) =>
  sql<{ total: number }[]>`select count(*) as total from senders s ${filtered(sql, companyId, filter)}`

export function selectSenderPage(
  sql: Sql,
  companyId: number,
  filter: SenderFilter,
  page: { offset: number; limit: number },
) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)} ${filtered(sql, companyId, filter)}
    order by s.sender_id offset ${page.offset} limit ${page.limit}`
}

export const countDocuments = (sql: Sql, companyId: number, senderId: number) =>
  sql<{ documents: number }[]>`
    select cardinality(document_ids) as documents from senders
    where company_id = ${companyId} and sender_id = ${senderId}`

export function updateSender(sql: Sql, sender: Sender, change: SenderChange) {
  return sql`
    update senders set
      sender_name = ${change.senderName ?? sender.senderName},
      common_type = ${change.commonType ?? sender.commonType},
      date_from = ${change.dateFrom ?? sender.dateFrom},
      date_to = ${change.dateTo ?? sender.dateTo},
      document_ids = coalesce(${change.documentIds ?? null}::uuid[], document_ids)
    where company_id = ${sender.companyId} and sender_id = ${sender.senderId}`
}

export function updateSuspension(
  sql: Sql,
  companyId: number,
  senderId: number,
  suspended: boolean,
  reason: string | null,
) {
  return sql`
    update senders set suspended = ${suspended}, suspend_reason = ${reason}
    where company_id = ${companyId} and sender_id = ${senderId}`
}

export function updateRate(sql: Sql, senderId: number, partsPerSecond: number | null) {
  return sql<{ companyId: number }[]>`
    update senders s set parts_per_second = ${partsPerSecond} from sender_ids i
    where i.sender_id = ${senderId} and s.company_id = i.company_id and s.sender_id = i.sender_id
    returning s.company_id as "companyId"`
}

export type Move = {
  companyId: number
  senderId: number
  from: SenderStatus
  to: SenderStatus
  by: string
  comment?: string | undefined
  fee?: Money | null
  /** What the move was decided on, where the row is not locked. */
  seen?: Pick<Sender, 'commonType' | 'dateFrom' | 'dateTo'>
  now: Date
}

/** Moves a name, once: only from the state it was seen in, and as it was seen. The move itself is kept as a row. */
export function moveSender(sql: Sql, move: Move) {
  return sql`
    with moved as (
      update senders set
        status = ${move.to},
        fee = ${move.fee === undefined ? sql`fee` : move.fee === null ? null : sql.typed.money(move.fee)},
        manager_comment = ${commentAfter(sql, move)},
        rejected_at = ${move.to === 'REJECTED' ? move.now : null}
      where company_id = ${move.companyId} and sender_id = ${move.senderId} and status = ${move.from}
        ${move.seen ? unchanged(sql, move.seen) : sql``}
      returning company_id, sender_id)
    insert into sender_moves (company_id, sender_id, from_status, to_status, moved_by, comment, moved_at)
    select company_id, sender_id, ${move.from}, ${move.to}, ${move.by}, ${move.comment ?? null}, ${move.now} from moved`
}

/**
 * What was said of an earlier rejection ends where the review ends well: every name passes AWAITING on its way to
 * APPROVED, and what staff say with their yes stays while its first day is waited for.
 */
const commentAfter = (sql: Sql, { to, comment }: Move) =>
  to === 'AWAITING' ? sql`${comment ?? null}::text` : sql`coalesce(${comment ?? null}, manager_comment)`

const unchanged = (sql: Sql, seen: NonNullable<Move['seen']>) => sql`
  and common_type = ${seen.commonType} and date_trunc('milliseconds', date_from) = ${seen.dateFrom}
  and date_trunc('milliseconds', date_to) is not distinct from ${seen.dateTo}::timestamptz`

export type Due = Pick<Sender, 'companyId' | 'senderId' | 'status' | 'dateFrom' | 'dateTo' | 'commonType' | 'brand'>

/** Names that the clock, or automatic moderation, has to move now. Those in `leftToStaff` (`CHANNEL name`) stay under review. */
export function selectDue(sql: Sql, movable: SenderStatus[], leftToStaff: string[], now: Date, limit: number) {
  return sql<Due[]>`
    select company_id as "companyId", sender_id as "senderId", status, date_from as "dateFrom", date_to as "dateTo",
      common_type as "commonType", brand
    from senders
    where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING')
      and status = any(${movable}::text[]::sender_status[]) and (status <> 'AWAITING' or date_from <= ${now})
      and (status = 'AWAITING' or channel_type || ' ' || regexp_replace(sender_name, '^@', '') <> all(${leftToStaff}::text[]))
    union all
    select company_id, sender_id, status, date_from, date_to, common_type, brand
    from senders
    where status in ('AWAITING', 'APPROVED') and date_to <= ${now}
    limit ${limit}`
}

export const selectMoves = (sql: Sql, companyId: number, senderId: number) => sql<
  { from: SenderStatus; to: SenderStatus; by: string; comment: string | null; movedAt: Date }[]
>`
    select from_status as "from", to_status as "to", moved_by as "by", comment, moved_at as "movedAt"
    from sender_moves where company_id = ${companyId} and sender_id = ${senderId} order by move_id`

export function selectAllSenders(sql: Sql, companyId: number | undefined) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    ${companyId === undefined ? sql`` : sql`where s.company_id = ${companyId}`}
    order by s.status >= 'APPROVED', s.sender_id`
}
