import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
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

/**
 * The newest messages of some companies. The statement reads each company by itself, because the index has the keys in
 * order only within a company. The index of numbers has the companies of a number together, so one scan is enough.
 */
export function selectShown(sql: Sql, question: BoxQuestion) {
  const { companyIds, key, limit } = question
  const isByNumber = key?.column === 'destination' || key?.column === 'beginning'
  const found = isByNumber
    ? newest(sql, question, sql`m.company_id = any(${companyIds}::bigint[])`)
    : sql`
      select found.* from unnest(${companyIds}::bigint[]) company (id)
      cross join lateral (${newest(sql, question, sql`m.company_id = company.id`)}) found
      order by message_uuid desc limit ${limit}`
  return sql<ShownMessage[]>`
    select ${foundColumns(sql)}, m.company_id, k.name as company_name, m.dispatch_position as position,
      m.tariff_id, m.key_id, m.operator_error, m.send_at,
      m.lane_id is null and m.send_at is null as is_rejected, n.name as dispatch_name
    from (${found}) m
    ${joinDispatch(sql, itsCompany(sql))}
    join lateral (select name from companies where company_id = m.company_id offset 0) k on true
    left join lateral (
      select name from dispatches where company_id = m.company_id and dispatch_id = d.dispatch_id offset 0) n on true
    order by m.message_uuid desc`
}

const columns = [
  ...columnLists.messages,
  'm.dispatch_position',
  'm.tariff_id',
  'm.key_id',
  'm.operator_error',
  'm.send_at',
  'm.lane_id',
]

const newest = (sql: Sql, question: BoxQuestion, ofCompany: ReturnType<typeof conditionsOf>) => sql`
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
      select newest.status from unnest(${companyIds}::bigint[]) company (id)
      cross join lateral (
        select m.status from messages m
        where m.company_id = company.id and m.message_uuid between ${bounds.least} and ${bounds.greatest}
        order by m.message_uuid desc limit ${most}) newest
      limit ${most}) read`
}

/** The first and last key of a dispatch, if it belongs to one of these companies. */
export function selectDispatchPlace(sql: Sql, companyIds: number[], dispatchId: number) {
  return sql<{ companyId: number; firstUuid: string | null; lastUuid: string | null; isCascade: boolean }[]>`
    select d.company_id, d.first_uuid, d.last_uuid,
      d.cascade is not null as is_cascade
    from dispatch_ids i join dispatches d on d.company_id = i.company_id and d.dispatch_id = i.dispatch_id
    where i.dispatch_id = ${dispatchId} and i.company_id = any(${companyIds}::bigint[])`
}
