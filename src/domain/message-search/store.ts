import type { Fragment, Sql } from '../../db/sql.ts'
import { numberPatternOf } from './country.ts'
import type { FoundMessage } from './found-message.ts'
import type { Bounds, Filter, Order } from './search.ts'

/**
 * One source of messages: a table, the key for its index, and the remaining filters. A search joins the messages of all
 * its sources. No two sources find the same message.
 *
 * Each connection caches every form of statement, so there must be few forms. A key has its own condition, so that
 * every plan uses its index. A statement has either all other filters, each as `parameter is null or ...`, or none.
 */
export type SearchSource = {
  companyId: number
  table: 'messages' | 'inbound_messages'
  key: Key | undefined
  /** A range of message keys, so that the statement reads only the partitions of some months. */
  bounds: Bounds | undefined
  /** Messages that another source finds. */
  exceptUuids?: string[]
  rest: Filter | undefined
}

export type Key =
  /** The values are distinct. */
  | { column: 'message_uuid' | 'external_id' | 'destination' | 'cascade_uuid'; values: string[] }
  /** `step_of`: the later cascade steps of a dispatch. Their rows have the id of the cascade, but not of the dispatch. */
  | { column: 'dispatch_id' | 'step_of'; values: number[] }

/** A page of the messages that the sources find. Fields of dispatches are read only for the messages of the page. */
export function selectPage(sql: Sql, sources: SearchSource[], order: Order, offset: number, limit: number) {
  const [first] = sources
  const found = (source: SearchSource, count: number) => foundBy(sql, source, columnsOf(sql, source), order, count)
  const page =
    sources.length === 1
      ? found(first!, offset + limit)
      : sql`select * from (${union(
          sql,
          sources.map(source => found(source, offset + limit)),
        )}) every_way`
  return sql<FoundMessage[]>`
    select ${foundColumns(sql)}
    from (select * from (${page}) found ${inOrder(sql, order)} limit ${limit} offset ${offset}) m
    ${joinDispatch(sql, sql`${first!.companyId}`)}
    ${inOrder(sql, order)}`
}

export type LookupColumn = 'message_uuid' | 'external_id' | 'destination'
export type Wanted = { companyId: number; value: string }

/** The newest messages of each wanted value of a company. `place` is the index of the value in `values`, counted from 1. */
export function selectWanted(sql: Sql, companyId: number, column: LookupColumn, values: string[], most: number) {
  return sql<(FoundMessage & { place: number })[]>`
    select q.place, ${foundColumns(sql)}
    from unnest(${values}::${sql.unsafe(arrayTypeOf[column])}) with ordinality q (value, place)
    cross join lateral (
      select ${sql.unsafe(columnLists.messages.join(', '))} from messages m
      where m.company_id = ${companyId} and ${sql(`m.${column}`)} = q.value
      order by m.message_uuid desc limit ${most}) m
    ${joinDispatch(sql, sql`${companyId}`)}
    order by q.place, m.message_uuid desc`
}

/** Reads in the order of the index. Without an order, a generic plan might scan the whole table for a small company. */
export function countUpTo(sql: Sql, sources: SearchSource[], most: number) {
  const found = sources.map(source =>
    foundBy(sql, source, sql`m.message_uuid`, { by: 'createdTime', descending: true }, most),
  )
  return sql<{ total: number }[]>`
    select count(*) as total from (select 1 from (${union(sql, found)}) every_way limit ${most}) counted`
}

/** The first and last message keys of these dispatches. Dispatches without messages are left out. */
export function selectDispatchBounds(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<{ dispatchId: number; firstUuid: string; lastUuid: string; isCascade: boolean }[]>`
    select dispatch_id, first_uuid, last_uuid,
      cascade is not null as is_cascade
    from dispatches
    where company_id = ${companyId} and dispatch_id = any(${dispatchIds}::bigint[]) and first_uuid is not null`
}

/** The smallest key of the dispatches that were not completed before this time. A dispatch may wait for years. */
export function selectFirstOfUnfinished(sql: Sql, companyId: number, from: Date) {
  return sql<{ firstUuid: string }[]>`
    select first_uuid from dispatches
    where company_id = ${companyId} and first_uuid is not null and (completed_at is null or completed_at >= ${from})
    order by first_uuid limit 1`
}

/** Makes PostgreSQL plan the search for its values, and limits the time of each statement. */
export const limitSearch = (sql: Sql, timeoutMs: number) => sql`
  select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

export const foundColumns = (sql: Sql) => sql`
  m.direction, m.message_uuid as uuid, m.external_id, d.dispatch_id,
  coalesce(m.channel_type, d.channel_type) as channel_type, coalesce(m.traffic_type, d.traffic_type) as traffic_type,
  ${methodOf(sql)} as method, m.template_id, coalesce(m.center_id, d.center_id) as center_id,
  coalesce(m.sender_name, s.sender_name, d.sender_name) as sender_name, m.destination, m.brand_id,
  m.text, coalesce(m.content, ${firstContentOf(sql)}) as content, coalesce(m.options, ${firstOptionsOf(sql)}) as options,
  d.start_at,
  d.hours, d.days, coalesce(m.callback_url, d.callback_url) as callback_url,
  coalesce(m.callback_events, d.callback_events) as callback_events, m.parts, m.price,
  m.final_price, c.currency, m.status, m.error_code, m.sent_at,
  m.final_at, m.read_at, m.expires_at, m.cascade_uuid,
  m.cascade_step`

/** A cascade dispatch stores the content and the ttl of the first step. Each message adds its own text to the content. */
const firstContentOf = (sql: Sql) => sql`
  case when m.cascade_step = 1 and jsonb_typeof(d.first_step -> 'content') = 'object' then d.first_step -> 'content' ||
    case when d.first_step -> 'content' ? 'text' then jsonb_build_object('text', m.text) else '{}' end end`
const firstOptionsOf = (sql: Sql) => sql`
  case when m.cascade_step = 1 then d.options || jsonb_build_object('ttl', d.first_step -> 'ttl') else d.options end`

/** Joins the fields of dispatch, sender and company to each message of the page. */
export const joinDispatch = (sql: Sql, companyId: Fragment) => sql`
  left join lateral (${dispatchOf(sql, companyId)} offset 0) d on true
  left join lateral (${senderOf(sql, companyId)} offset 0) s on true
  join lateral (select currency from companies where company_id = ${companyId} offset 0) c on true`

/** The company of the message `m`, for statements about several companies. */
export const itsCompany = (sql: Sql): Fragment => sql`m.company_id`

// The parts of a statement ----------------------------------------------------------------------------------------

const shared = [
  'company_id',
  'message_uuid',
  'destination',
  'text',
  'channel_type',
  'sender_name',
  'content',
  'center_id',
]
const outboundAlone = {
  external_id: 'text',
  dispatch_id: 'bigint',
  sender_id: 'bigint',
  brand_id: 'smallint',
  traffic_type: 'text',
  sending_method: 'text',
  template_id: 'bigint',
  options: 'jsonb',
  callback_url: 'text',
  callback_events: 'text[]',
  parts: 'smallint',
  price: 'numeric',
  final_price: 'numeric',
  status: 'message_status',
  error_code: 'integer',
  final_at: 'timestamptz',
  read_at: 'timestamptz',
  expires_at: 'timestamptz',
  cascade_uuid: 'uuid',
  cascade_step: 'smallint',
}

/** PostgreSQL has a function for the time of a uuid only since version 17. */
const timeOfUuid = `to_timestamp(('x' || translate(left(m.message_uuid::text, 13), '-', ''))::bit(48)::bigint / 1000.0)`

export const columnLists = {
  messages: [
    ...[...shared, ...Object.keys(outboundAlone)].map(column => `m.${column}`),
    "'outbound' as direction",
    'm.sent_at',
    `coalesce(m.final_at, m.sent_at, ${timeOfUuid}) as status_time`,
  ],
  inbound_messages: [
    ...shared.map(column => `m.${column}`),
    ...Object.entries(outboundAlone).map(([column, type]) => `null::${type} as ${column}`),
    "'inbound' as direction",
    'm.received_at as sent_at',
    'm.received_at as status_time',
  ],
}

const columnsOf = (sql: Sql, { table }: SearchSource) => sql`${sql.unsafe(columnLists[table].join(', '))}`

const sortColumns = { createdTime: 'message_uuid', sentTime: 'sent_at', statusTime: 'status_time' }

/** Messages without such a time come last in both directions. Messages with equal times have the order of their keys. */
function inOrder(sql: Sql, { by, descending }: Order) {
  const direction = descending ? 'desc' : 'asc'
  const first = by === 'createdTime' ? '' : `${sortColumns[by]} ${direction} nulls last, `
  return sql.unsafe(`order by ${first}message_uuid ${direction}`)
}

const dispatchOf = (sql: Sql, companyId: Fragment) => sql`
  select dispatch_id, channel_type, traffic_type, sender_name, center_id, options, start_at, offset_minutes, hours, days,
    callback_url, callback_events, cascade -> 0 as first_step
  from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchIdOf(sql, companyId)}`

/** The dispatch of a message. For a later cascade step, it is the dispatch of the cascade. */
const dispatchIdOf = (sql: Sql, companyId: Fragment) => sql`
  coalesce(m.dispatch_id, (
    select c.dispatch_id from cascades c where c.company_id = ${companyId} and c.cascade_uuid = m.cascade_uuid))`

const senderOf = (sql: Sql, companyId: Fragment) =>
  sql`select sender_name from senders where company_id = ${companyId} and sender_id = m.sender_id`

const methodOf = (sql: Sql) => sql`
  case when m.direction = 'inbound' then null when d.dispatch_id is not null then 'DISPATCH'
    else coalesce(m.sending_method, 'API') end`

/**
 * The first messages that a source finds. Several values of a key are looked up one by one, because the index is in order
 * only within one value. With `= any(...)` and an order, the planner might read all messages instead.
 */
function foundBy(sql: Sql, source: SearchSource, columns: Fragment, order: Order, count: number): Fragment {
  const { key } = source
  const first = (value?: Fragment) => sql`
    select ${columns} from ${sql(source.table)} m where m.company_id = ${source.companyId}
      ${key && value ? keyed(sql, source, key.column, value) : sql``} ${conditionsOf(sql, source)}
    ${inOrder(sql, order)} limit ${count}`
  if (!key) return first()
  if (key.values.length === 1) return first(sql`${key.values[0]!}`)
  return sql`
    select found.* from unnest(${key.values as string[]}::${sql.unsafe(arrayTypeOf[key.column])}) wanted (value)
    cross join lateral (${first(sql`wanted.value`)}) found
    ${inOrder(sql, order)} limit ${count}`
}

const keyed = (sql: Sql, { companyId }: SearchSource, column: Key['column'], value: Fragment) =>
  column === 'step_of'
    ? sql`and m.cascade_step > 1 and m.cascade_uuid in (
        select c.cascade_uuid from cascades c
        where c.company_id = ${companyId} and c.dispatch_id = ${value} and c.next_step > 2)`
    : sql`and ${sql(`m.${column}`)} = ${value}`

const arrayTypeOf = {
  message_uuid: 'uuid[]',
  external_id: 'text[]',
  destination: 'text[]',
  cascade_uuid: 'uuid[]',
  dispatch_id: 'bigint[]',
  step_of: 'bigint[]',
}

const conditionsOf = (sql: Sql, source: SearchSource) => sql`
  ${source.bounds ? sql`and m.message_uuid between ${source.bounds.least} and ${source.bounds.greatest}` : sql``}
  ${source.exceptUuids ? sql`and m.message_uuid <> all(${source.exceptUuids}::uuid[])` : sql``}
  ${source.rest ? (source.table === 'messages' ? outboundFilters(sql, source.rest, sql`${source.companyId}`) : inboundFilters(sql, source.rest)) : sql``}`

export function outboundFilters(sql: Sql, filter: Filter, companyId: Fragment) {
  const ofDispatch = (column: string) => sql`(
    select ${sql(`d.${column}`)} from dispatches d where d.company_id = ${companyId} and d.dispatch_id = ${dispatchIdOf(sql, companyId)})`
  return sql`
    ${commonFilters(sql, filter)}
    ${among(sql, sql`coalesce(m.channel_type, ${ofDispatch('channel_type')})`, filter.channelTypes)}
    ${among(sql, sql`coalesce(m.traffic_type, ${ofDispatch('traffic_type')})`, filter.trafficTypes)}
    ${among(sql, sql`coalesce(m.center_id, ${ofDispatch('center_id')})::text`, filter.centerIds?.map(String))}
    ${among(sql, sql`coalesce(m.sender_name, (${senderOf(sql, companyId)}), ${ofDispatch('sender_name')})`, filter.senderNames)}
    ${among(sql, sql`case when ${dispatchIdOf(sql, companyId)} is null then coalesce(m.sending_method, 'API') else 'DISPATCH' end`, filter.methods)}
    ${among(sql, sql`m.external_id`, filter.externalIds)}
    ${among(sql, sql`${dispatchIdOf(sql, companyId)}::text`, filter.dispatchIds?.map(String))}
    ${among(sql, sql`m.template_id::text`, filter.templateIds?.map(String))}
    ${among(sql, sql`m.cascade_uuid::text`, filter.cascadeUuid === undefined ? undefined : [filter.cascadeUuid])}
    ${among(sql, statusWord(sql), filter.statuses)}
    and (${filter.tags ?? null}::text[] is null
      or coalesce(m.options, ${ofDispatch('options')}) -> 'tags' ?| ${filter.tags ?? null}::text[])
    ${between(sql, sql`coalesce(m.sent_at, m.final_at)`, filter)}
    ${is(sql, sql`m.status = 'CREATED'`, filter.isReadyToStop)}
    ${is(sql, sql`coalesce(m.cascade_step, 1) = 1`, filter.isRoot)}
    ${is(sql, sql`${dispatchIdOf(sql, companyId)} is not null`, filter.isOfDispatch)}`
}

/** The filters that apply to inbound messages. A filter that excludes all inbound messages was handled before. */
function inboundFilters(sql: Sql, filter: Filter) {
  return sql`
    ${commonFilters(sql, filter)}
    ${among(sql, sql`m.channel_type`, filter.channelTypes)}
    ${among(sql, sql`m.center_id::text`, filter.centerIds?.map(String))}
    ${among(sql, sql`m.sender_name`, filter.senderNames)}
    ${between(sql, sql`m.received_at`, filter)}`
}

function commonFilters(sql: Sql, { destinations, containing, notContaining, countryCode }: Filter) {
  const like = (text: string | undefined) => (text === undefined ? null : `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const pattern = countryCode === undefined ? null : numberPatternOf(countryCode)
  return sql`
    ${among(sql, sql`m.destination`, destinations)}
    and (${like(containing)}::text is null or m.text ilike ${like(containing)})
    and (${like(notContaining)}::text is null or coalesce(m.text, '') not ilike ${like(notContaining)})
    and (${pattern}::text is null or m.destination ~ ${pattern})`
}

const statusWord = (sql: Sql) => sql`
  case m.status when 'CREATED' then 'sending' when 'SENT' then 'sent' when 'DELIVERED' then 'delivered'
    else case when m.sent_at is null then 'unsent' else 'undelivered' end end`

const among = (sql: Sql, what: Fragment, values: string[] | undefined) =>
  sql`and (${values ?? null}::text[] is null or ${what} = any(${values ?? null}::text[]))`

const is = (sql: Sql, what: Fragment, wanted: boolean | undefined) =>
  sql`and (${wanted ?? null}::boolean is null or (${what}) = ${wanted ?? null}::boolean)`

const between = (sql: Sql, what: Fragment, { from, to }: Filter) => sql`
  and (${from ?? null}::timestamptz is null or ${what} >= ${from ?? null}::timestamptz)
  and (${to ?? null}::timestamptz is null or ${what} <= ${to ?? null}::timestamptz)`

const union = (sql: Sql, parts: Fragment[]) =>
  parts.slice(1).reduce((sum, part) => sql`${sum} union all (${part})`, sql`(${parts[0]!})`)
