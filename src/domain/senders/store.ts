import type { Money } from '../../base/money.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { ReviewStatus } from '../review/review.ts'
import {
  type DueRows,
  hasDates,
  joinSubmission,
  type NewReviewChange,
  newStatus,
  type ReviewedTable,
  selectDueRows,
  valuesOfChange,
  waits,
} from '../review/statements.ts'
import type { NewSender, Sender, SenderChange, SenderRequest } from './sender.ts'

export const reviewed: ReviewedTable = { rows: 'senders', idColumn: 'sender_id', changes: 'sender_moves' }

const columns = (sql: Sql) => sql`
  s.sender_id, s.company_id, s.sender_name,
  s.channel_type, s.common_type, s.brand, s.country_code,
  s.valid_from, s.valid_to, s.status, s.suspended, s.suspend_reason,
  s.fee, s.manager_comment, s.rejected_at, s.created_at,
  s.parts_per_second,
  c.counteragent_name, c.counteragent_inn`

const fromSenders = (sql: Sql) => sql`from senders s join companies c using (company_id)`

export function insertSenderId(sql: Sql, companyId: number) {
  return sql<{ senderId: number }[]>`
    insert into sender_ids (company_id) values (${companyId}) returning sender_id`
}

export function insertSender(sql: Sql, companyId: number, senderId: number, sender: NewSender) {
  return sql`
    insert into senders (
      company_id, sender_id, sender_name, channel_type, common_type, brand, country_code, description, document_ids,
      valid_from)
    values (
      ${companyId}, ${senderId}, ${sender.senderName}, ${sender.channelType}, ${sender.commonType}, ${sender.brand},
      ${sender.countryCode}, ${sender.description ?? null}, ${sender.documentIds}, ${sender.validFrom})`
}

/** The resolver: from a bare id to its company. */
export const selectCompanyOf = (sql: Sql, senderId: number) =>
  sql<{ companyId: number }[]>`select company_id from sender_ids where sender_id = ${senderId}`

export function selectSender(sql: Sql, companyId: number, senderId: number) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)} where s.company_id = ${companyId} and s.sender_id = ${senderId}`
}

export function selectSenderRequest(sql: Sql, companyId: number, senderId: number) {
  return sql<SenderRequest[]>`
    select ${columns(sql)}, s.description, s.document_ids ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_id = ${senderId}`
}

/** Other registrations of this company in the cabinet wait until the transaction ends. */
export const lockSendersOf = (sql: Sql, companyId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`senders of ${companyId}`}, 0))`

/** A sender of this partner, from its bare id. */
export async function selectSenderOfPartner(sql: Sql, partnerId: number, senderId: number): Promise<Sender[]> {
  const [found] = await selectCompanyOf(sql, senderId)
  if (!found) return []
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${found.companyId} and s.sender_id = ${senderId} and c.partner_id = ${partnerId}`
}

export function selectSenderForUpdate(sql: Sql, companyId: number, senderId: number) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_id = ${senderId} for update of s`
}

export function sendersByIds(sql: Sql, companyId: number, senderIds: number[]) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    where s.company_id = ${companyId} and s.sender_id = any(${senderIds}::bigint[])`
}

/** Every registration of these names, in any review status. */
export function sendersByNames(sql: Sql, companyId: number, names: string[]) {
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

export function listSenders(sql: Sql, companyId: number, filter: SenderFilter) {
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

export type NameFilter = {
  statuses?: readonly ReviewStatus[] | undefined
  suspended?: boolean | undefined
  /** A part of the name. */
  search?: string | undefined
}

/** Names with at least one registration that fits the filter. */
const namesIn = (sql: Sql, companyId: number, { statuses, suspended, search }: NameFilter) => sql`
  select channel_type, sender_name, max(sender_id) as newest from senders
  where company_id = ${companyId}
    ${statuses === undefined ? sql`` : sql`and status = any(${[...statuses]}::text[]::review_status[])`}
    ${suspended === undefined ? sql`` : sql`and suspended = ${suspended}`}
    ${search === undefined ? sql`` : sql`and strpos(lower(sender_name), lower(${search})) > 0`}
  group by channel_type, sender_name`

export const countNames = (sql: Sql, companyId: number, filter: NameFilter) =>
  sql<{ total: number }[]>`select count(*)::int as total from (${namesIn(sql, companyId, filter)}) names`

export function selectNamePage(
  sql: Sql,
  companyId: number,
  filter: NameFilter,
  page: { offset: number; limit: number },
) {
  return sql<Sender[]>`
    select ${columns(sql)}
    from (
      ${namesIn(sql, companyId, filter)} order by newest desc offset ${page.offset} limit ${page.limit}
    ) names
    join senders s on s.company_id = ${companyId} and s.channel_type = names.channel_type
      and s.sender_name = names.sender_name
    join companies c on c.company_id = s.company_id
    order by names.newest desc, s.sender_id`
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
      valid_from = ${change.validFrom ?? sender.validFrom},
      valid_to = ${change.validTo ?? sender.validTo},
      description = coalesce(${change.description ?? null}, description),
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

export function updateRate(sql: Sql, companyId: number, senderId: number, partsPerSecond: number | null) {
  return sql`
    update senders set parts_per_second = ${partsPerSecond}
    where company_id = ${companyId} and sender_id = ${senderId}`
}

export type SenderStatusChange = NewReviewChange & {
  /** The fee from now on. Undefined leaves the fee. */
  fee?: Money | null
  /** The values that the change was decided on, for a row that is not locked. */
  seen?: Pick<Sender, 'commonType' | 'validFrom' | 'validTo'>
}

/**
 * Changes the status of a sender that still has the expected status and values, and stores the change. Returns false if
 * nothing was changed.
 */
export async function changeStatus(
  sql: Transaction,
  { companyId, senderId }: Pick<Sender, 'companyId' | 'senderId'>,
  change: SenderStatusChange,
): Promise<boolean> {
  const { from, fee, seen } = change
  const { count } = await sql`
    update senders set
      ${newStatus(sql, change)},
      fee = ${fee === undefined ? sql`fee` : fee === null ? null : sql.typed.money(fee)}
    where company_id = ${companyId} and sender_id = ${senderId} and status = ${from}
      ${seen ? sql`and common_type = ${seen.commonType} and ${hasDates(sql, seen)}` : sql``}`
  if (count === 0) return false
  await sql`
    insert into sender_moves (company_id, sender_id, from_status, to_status, moved_by, comment, moved_at)
    values (${companyId}, ${senderId}, ${valuesOfChange(sql, change)})`
  return true
}

export type DueSender = Pick<
  Sender,
  'companyId' | 'senderId' | 'status' | 'validFrom' | 'validTo' | 'commonType' | 'brand'
>

/** `leftToStaff`: names, as `CHANNEL name`, that staff decide on in any case. */
export const selectDue = (sql: Sql, due: Omit<DueRows, 'except'>, leftToStaff: string[]) =>
  selectDueRows<DueSender>(
    sql,
    reviewed,
    sql`company_id, sender_id, status, valid_from, valid_to, common_type, brand`,
    { ...due, except: sql`channel_type || ' ' || regexp_replace(sender_name, '^@', '') = any(${leftToStaff}::text[])` },
  )

/** For staff: the names of all companies or of one company. Names under review come first. */
export function listAllSenders(sql: Sql, companyId: number | undefined) {
  return sql<Sender[]>`
    select ${columns(sql)} ${fromSenders(sql)}
    ${companyId === undefined ? sql`` : sql`where s.company_id = ${companyId}`}
    order by s.status >= 'APPROVED', s.sender_id`
}

/** A name that waits for staff. It waits since its last submission. */
export type WaitingSender = Pick<Sender, 'senderId' | 'companyId' | 'senderName' | 'channelType' | 'brand'> & {
  companyName: string
  waitingSince: Date
}

/** The oldest first. */
export function waitingSenders(sql: Sql, limit: number) {
  return sql<WaitingSender[]>`
    select s.sender_id, s.company_id, c.name as company_name,
      s.sender_name, s.channel_type, s.brand,
      coalesce(submitted.at, s.created_at) as waiting_since
    from senders s
    join companies c using (company_id)
    ${joinSubmission(sql, reviewed, sql`s`)}
    where ${waits(sql, sql`s`)}
    order by waiting_since, s.sender_id limit ${limit}`
}

/** As the index `senders_by_plain_name` writes a name: without signs, in small letters. */
const plainName = (sql: Sql, name: ReturnType<Sql>) =>
  sql`lower(regexp_replace(${name}, '[^[:alnum:]]', '', 'g')) collate "C"`

export type Neighbour = Pick<
  Sender,
  'senderId' | 'senderName' | 'channelType' | 'brand' | 'status' | 'suspended' | 'managerComment'
> & { companyName: string }

/**
 * Names of other companies that are next to this name in the order of plain names: they share the longest beginning.
 * The statement reads at most `each` names on each side.
 */
export function selectNeighbours(sql: Sql, companyId: number, senderName: string, each: number) {
  const name = plainName(sql, sql`${senderName}::text`)
  const plain = plainName(sql, sql`sender_name`)
  return sql<Neighbour[]>`
    select s.sender_id, s.sender_name, s.channel_type, s.brand, s.status,
      s.suspended, s.manager_comment, c.name as company_name
    from (
      (select * from senders where ${plain} >= ${name} order by ${plain} limit ${each})
      union all
      (select * from senders where ${plain} < ${name} order by ${plain} desc limit ${each})) s
    join companies c using (company_id)
    where s.company_id <> ${companyId}`
}
