import type { Money } from '../../base/money.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import type { FoundMessage } from './found-message.ts'
import type { Bounds, Filter } from './search.ts'
import { columnLists, foundColumns, itsCompany, joinDispatch, outboundFilters } from './store.ts'

/** A message as the cabinet shows it. */
export type ShownMessage = FoundMessage & {
  companyId: number
  companyName: string
  price: Money
  parts: number
  dispatchName: string | null
  /** The place of the message in the dispatch, counted from 0. */
  position: number | null
  tariffId: number | null
  /** The API key of the request of a single message, if it is stored. */
  keyId: number | null
  /** The error code that the operator sent. */
  operatorError: string | null
  sendAt: Date | null
  /** The message was stored as FAILED at once, without a lane. */
  isRejected: boolean
}

export type BoxKey =
  | { column: 'message_uuid' | 'external_id' | 'destination' | 'cascade_uuid'; value: string }
  /** Numbers from `from` (included) to `before` (excluded). */
  | { column: 'beginning'; from: string; before: string }

export type BoxQuestion = {
  companyIds: number[]
  key?: BoxKey
  bounds: Bounds
  filter: Filter
  errorCodes?: number[] | undefined
  brandIds?: number[] | undefined
  /** The number contains `digits`, or the text contains `typed`. */
  digits?: { digits: string; typed: string } | undefined
  /** The text contains each of these words. */
  words?: string[] | undefined
  limit: number
}

/** The newest messages of some companies. */
export async function selectShown(sql: Sql, question: BoxQuestion): Promise<ShownMessage[]> {
  const [companyId, ...others] = question.companyIds
  if (companyId === undefined) return []
  if (others.length > 0) return showPlaces(sql, await selectPlaces(sql, question))
  const company = sql`${companyId}::bigint`
  return sql<ShownMessage[]>`
    ${shown(sql, newest(sql, question, sql`m.company_id = ${company}`), company)} order by uuid desc`
}

type MessagePlace = { companyId: number; messageUuid: string }

/**
 * The keys of the newest messages. The statement reads each company by itself, because the index has the keys in order
 * only within a company. The index of numbers has the companies of a number together, so one scan is enough.
 */
function selectPlaces(sql: Sql, question: BoxQuestion) {
  const { companyIds, key, limit } = question
  const isByNumber = key?.column === 'destination' || key?.column === 'beginning'
  if (isByNumber)
    return sql<MessagePlace[]>`
      select company_id, message_uuid from (
        ${newest(sql, question, sql`m.company_id = any(${companyIds}::bigint[])`)}) found`
  return sql<MessagePlace[]>`
    select found.company_id, found.message_uuid from companies c
    cross join lateral (${newest(sql, question, sql`m.company_id = c.company_id`)}) found
    where c.company_id = any(${companyIds}::bigint[])
    order by found.message_uuid desc limit ${limit}`
}

function showPlaces(sql: Sql, places: MessagePlace[]) {
  const uuids = places.map(({ messageUuid }) => messageUuid)
  const messages = sql`
    select ${sql.unsafe(columns.join(', '))} from messages m
    where m.company_id = owner.company_id and m.message_uuid = any(${uuids}::uuid[])`
  return sql<ShownMessage[]>`
    select shown.* from (
      select company_id from companies
      where company_id = any(${[...new Set(places.map(({ companyId }) => companyId))]}::bigint[])) owner
    cross join lateral (${shown(sql, messages, sql`owner.company_id`)}) shown
    order by shown.uuid desc`
}

/** Adds the fields of the dispatch, the sender and the company to these messages of one company. */
const shown = (sql: Sql, messages: Fragment, companyId: Fragment) => sql`
  select ${foundColumns(sql)}, m.company_id, k.name as company_name, m.dispatch_position as position,
    m.tariff_id, m.key_id, m.operator_error, m.send_at,
    m.lane_id is null and m.send_at is null as is_rejected, n.name as dispatch_name
  from (${messages}) m
  ${joinDispatch(sql, companyId)}
  join lateral (select name from companies where company_id = ${companyId} offset 0) k on true
  left join lateral (
    select name from dispatches where company_id = ${companyId} and dispatch_id = d.dispatch_id offset 0) n on true`

const columns = [
  ...columnLists.messages,
  'm.dispatch_position',
  'm.tariff_id',
  'm.key_id',
  'm.operator_error',
  'm.send_at',
  'm.lane_id',
]

const newest = (sql: Sql, question: BoxQuestion, ofCompany: Fragment) => sql`
  select ${sql.unsafe(columns.join(', '))} from messages m
  where ${ofCompany} ${keyed(sql, question.key)}
    and m.message_uuid between ${question.bounds.least} and ${question.bounds.greatest}
    ${conditionsOf(sql, question)}
  order by m.message_uuid desc limit ${question.limit}`

function keyed(sql: Sql, key: BoxKey | undefined) {
  if (!key) return sql``
  if (key.column === 'beginning') return sql`and m.destination >= ${key.from} and m.destination < ${key.before}`
  return sql`and ${sql(`m.${key.column}`)} = ${key.value}`
}

/** Adds conditions only for given filters, because PostgreSQL plans these statements for their values. */
const conditionsOf = (sql: Sql, { filter, errorCodes, brandIds, digits, words }: BoxQuestion) => sql`
  ${outboundFilters(sql, filter, itsCompany(sql))}
  ${errorCodes ? sql`and m.error_code = any(${errorCodes}::int[])` : sql``}
  ${brandIds ? sql`and m.brand_id = any(${brandIds}::int[])` : sql``}
  ${digits ? sql`and (m.destination like ${`%${digits.digits}%`} or m.text ilike ${like(digits.typed)})` : sql``}
  ${words ? sql`and m.text ilike all(${words.map(like)}::text[])` : sql``}`

const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** Counts messages by status. It reads the newest messages of each company, and at most `most` messages in total. */
export function countStatuses(
  sql: Sql,
  { companyIds, bounds, most }: { companyIds: number[]; bounds: Bounds; most: number },
) {
  return sql<{ all: number; failed: number; waiting: number }[]>`
    select count(*)::int as all, (count(*) filter (where status = 'FAILED'))::int as failed,
      (count(*) filter (where status = 'CREATED'))::int as waiting
    from (
      select newest.status from companies c
      cross join lateral (
        select m.status from messages m
        where m.company_id = c.company_id and m.message_uuid between ${bounds.least} and ${bounds.greatest}
        order by m.message_uuid desc limit ${most}) newest
      where c.company_id = any(${companyIds}::bigint[])
      limit ${most}) read`
}

/** The first and last key of a dispatch. */
export function selectDispatchPlace(sql: Sql, companyId: number, dispatchId: number) {
  return sql<{ firstUuid: string | null; lastUuid: string | null; isCascade: boolean }[]>`
    select first_uuid, last_uuid, cascade is not null as is_cascade from dispatches
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
}
