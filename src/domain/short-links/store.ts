import type { Sql } from '../../db/sql.ts'
import type { ShortLink } from './short-link.ts'

/**
 * Writes the links whose codes are free and returns their places in the given list. Rows are inserted in the order of their
 * codes, so that two transactions that draw the same codes wait for each other in one direction only.
 */
export function insertLinks(sql: Sql, companyId: number, links: ShortLink[], now: Date) {
  return sql<{ place: number }[]>`
    with given as (
      select distinct on (code) * from unnest(
        ${links.map(link => link.code)}::text[], ${links.map(link => link.messageUuid)}::uuid[],
        ${links.map(link => link.url)}::text[]) with ordinality as q (code, message_uuid, url, place)
      order by code, place),
    written as (
      insert into short_links (code, company_id, message_uuid, url, created_at)
      select code, ${companyId}, message_uuid, url, ${now} from given order by code
      on conflict (code) do nothing
      returning code)
    select (place - 1)::int as place from given join written using (code)`
}

export type FoundLink = { companyId: number; messageUuid: string; url: string }

export function selectLink(sql: Sql, code: string) {
  return sql<FoundLink[]>`
    select company_id, message_uuid, url from short_links where code = ${code}`
}

/** The same with a lock: until the transaction ends, the link cannot be deleted and other clicks on it wait. */
export function lockLink(sql: Sql, code: string) {
  return sql<FoundLink[]>`
    select company_id, message_uuid, url from short_links where code = ${code}
    for no key update`
}

export const insertClick = (sql: Sql, companyId: number, code: string, now: Date) =>
  sql`insert into link_clicks (company_id, code, clicked_at) values (${companyId}, ${code}, ${now})`

export function countClicks(sql: Sql, companyId: number, codes: string[]) {
  return sql<{ code: string; clicks: number }[]>`
    select code, count(*) as clicks from link_clicks
    where company_id = ${companyId} and code = any(${codes}::text[]) group by code`
}

/** The links of a message among these codes. */
export function selectLinksOf(sql: Sql, companyId: number, messageUuid: string, codes: string[]) {
  return sql<{ code: string; url: string }[]>`
    select code, url from short_links
    where code = any(${codes}::text[]) and company_id = ${companyId} and message_uuid = ${messageUuid}`
}

/** The number of clicks of each link, and its first clicks. */
export function selectClicks(sql: Sql, companyId: number, codes: string[], most: number) {
  return sql<{ code: string; clicks: number; clickedAt: Date[] }[]>`
    select link.code, counted.clicks, first.clicked_at
    from unnest(${codes}::text[]) link (code)
    cross join lateral (
      select count(*) as clicks from link_clicks where company_id = ${companyId} and code = link.code) counted
    cross join lateral (
      select array_agg(clicked_at order by click_id) as clicked_at from (
        select clicked_at, click_id from link_clicks where company_id = ${companyId} and code = link.code
        order by click_id limit ${most}) shown) first
    where counted.clicks > 0`
}

export function deleteOldLinks(sql: Sql, before: Date, limit: number) {
  return sql<{ companyId: number; code: string }[]>`
    delete from short_links
    where code in (select code from short_links where created_at < ${before} order by created_at limit ${limit})
    returning company_id, code`
}

export function deleteLinksOf(sql: Sql, companyId: number, messageUuids: string[]) {
  return sql`delete from short_links where company_id = ${companyId} and message_uuid = any(${messageUuids}::uuid[])`
}

export const selectCodesOf = (sql: Sql, companyId: number, messageUuids: string[]) => sql<{ code: string }[]>`
  select code from short_links where company_id = ${companyId} and message_uuid = any(${messageUuids}::uuid[])`

export function deleteClicks(sql: Sql, companyId: number, codes: string[]) {
  return sql`delete from link_clicks where company_id = ${companyId} and code = any(${codes}::text[])`
}

// For the cabinet -----------------------------------------------------------------------------------------------------

/** Clicks at the same moment seldom meet in one row. */
export function countClick(sql: Sql, companyId: number, now: Date, shard: number) {
  return sql`
    insert into link_hours (company_id, hour, shard, clicks)
    values (${companyId}, date_trunc('hour', ${now}::timestamptz, 'UTC'), ${shard}, 1)
    on conflict (company_id, hour, shard) do update set clicks = link_hours.clicks + 1`
}

/**
 * Counts a click for the dispatch of the message, before the click itself is written: its recipient is counted with the
 * first one. Single messages, and messages of a month that is detached, have no dispatch to count for.
 */
export async function countClickOfDispatch(sql: Sql, { companyId, messageUuid }: FoundLink, shard: number) {
  const links = await sql<{ code: string }[]>`
    select code from short_links where company_id = ${companyId} and message_uuid = ${messageUuid}`
  await sql`
    insert into dispatch_clicks (company_id, dispatch_id, shard, clicks, people)
    select m.company_id, m.dispatch_id, ${shard}, 1, case when exists (
        select from link_clicks
        where company_id = ${companyId} and code = any(${links.map(({ code }) => code)}::text[])) then 0 else 1 end
    from messages m
    where m.company_id = ${companyId} and m.message_uuid = ${messageUuid} and m.dispatch_id is not null
    on conflict (company_id, dispatch_id, shard) do update
      set clicks = dispatch_clicks.clicks + 1, people = dispatch_clicks.people + excluded.people`
}

export type ClicksOfDispatch = { clicks: number; people: number }

export function selectClicksOfDispatch(sql: Sql, companyId: number, dispatchId: number) {
  return sql<ClicksOfDispatch[]>`
    select coalesce(sum(clicks), 0)::bigint as clicks, coalesce(sum(people), 0)::bigint as people from dispatch_clicks
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
}

export type ClickedDispatch = ClicksOfDispatch & {
  dispatchId: number
  name: string
  startedAt: Date | null
  delivered: number
}

/** The newest dispatches with clicks, older than a given dispatch. */
export function selectClickedDispatches(sql: Sql, companyId: number, before: number | undefined, limit: number) {
  return sql<ClickedDispatch[]>`
    select k.dispatch_id, d.name, d.started_at, k.clicks, k.people, b.delivered
    from (
      select dispatch_id, sum(clicks)::bigint as clicks, sum(people)::bigint as people from dispatch_clicks
      where company_id = ${companyId} ${before === undefined ? sql`` : sql`and dispatch_id < ${before}`}
      group by dispatch_id order by dispatch_id desc limit ${limit}
    ) k
    join dispatches d on d.company_id = ${companyId} and d.dispatch_id = k.dispatch_id
    cross join lateral (
      select coalesce(sum(delivered_messages), 0)::bigint as delivered from dispatch_blocks
      where company_id = ${companyId} and dispatch_id = k.dispatch_id
    ) b
    order by k.dispatch_id desc`
}

export const deleteOldHours = (sql: Sql, companyId: number, before: Date) =>
  sql`delete from link_hours where company_id = ${companyId} and hour < ${before}`

/** Clicks of all links of the company, by hours of UTC, from a moment on. */
export function clicksByHour(sql: Sql, companyId: number, from: Date) {
  return sql<{ hour: Date; clicks: number }[]>`
    select hour, sum(clicks)::bigint as clicks from link_hours
    where company_id = ${companyId} and hour >= ${from} group by hour order by hour`
}

/** The place of a link in the order of its company's links. */
export type LinkPlace = { messageUuid: string; code: string }

export type LinkQuestion = {
  companyId: number
  /** A part of the target's host. */
  host?: string | undefined
  /** Its messages lie between two keys. */
  dispatch?: { dispatchId: number; least: string; greatest: string } | undefined
}

export type CompanyLink = LinkPlace & { url: string; createdAt: Date }

export type LinkDetails = {
  code: string
  /** Counted up to 1,001. */
  clicks: number
  /** Null when the month of the message is detached. */
  destination: string | null
  dispatchId: number | null
  dispatchName: string | null
}

export type Block = { after: LinkPlace | undefined; floor: LinkPlace | undefined }

/** The links of a block, the newest first. A link is not asked for its dispatch, because another node can have that. */
export function selectLinks(sql: Sql, question: LinkQuestion, { after, floor }: Block, limit: number) {
  const { companyId, host } = question
  return sql<CompanyLink[]>`
    select code, message_uuid, url, created_at from short_links
    where company_id = ${companyId} ${between(sql, question, after)}
      ${floor ? sql`and (message_uuid, code) >= (${floor.messageUuid}::uuid, ${floor.code}::text)` : sql``}
      ${host ? sql`and split_part(split_part(url, '://', 2), '/', 1) ilike ${like(host)}` : sql``}
    order by message_uuid desc, code desc limit ${limit}`
}

export function selectCompanyLink(sql: Sql, companyId: number, code: string) {
  return sql<CompanyLink[]>`
    select code, message_uuid, url, created_at from short_links where code = ${code} and company_id = ${companyId}`
}

/** The messages of a dispatch among these. */
export function selectMessagesOfDispatch(sql: Sql, companyId: number, dispatchId: number, uuids: string[]) {
  return sql<{ messageUuid: string }[]>`
    select message_uuid from messages
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and dispatch_id = ${dispatchId}`
}

const MOST_COUNTED = 1001

export function selectDetails(sql: Sql, companyId: number, links: LinkPlace[]) {
  return sql<LinkDetails[]>`
    select l.code, c.clicks, m.destination, m.dispatch_id, d.name as dispatch_name
    from unnest(
      ${links.map(({ code }) => code)}::text[], ${links.map(({ messageUuid }) => messageUuid)}::uuid[]
    ) l (code, message_uuid)
    cross join lateral (
      select count(*) as clicks from (
        select company_id from link_clicks where company_id = ${companyId} and code = l.code limit ${MOST_COUNTED}) counted) c
    left join lateral (
      select destination, dispatch_id from messages
      where company_id = ${companyId} and message_uuid = l.message_uuid offset 0) m on true
    left join lateral (
      select name from dispatches where company_id = ${companyId} and dispatch_id = m.dispatch_id offset 0) d on true`
}

const between = (sql: Sql, { dispatch }: LinkQuestion, after: LinkPlace | undefined) => sql`
  ${dispatch ? sql`and message_uuid between ${dispatch.least} and ${dispatch.greatest}` : sql``}
  ${after ? sql`and (message_uuid, code) < (${after.messageUuid}::uuid, ${after.code}::text)` : sql``}`

const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** The last of the next links up to a number. No row if there are fewer. */
export function selectFloor(sql: Sql, question: LinkQuestion, after: LinkPlace | undefined, size: number) {
  return sql<LinkPlace[]>`
    select message_uuid, code from short_links
    where company_id = ${question.companyId} ${between(sql, question, after)}
    order by message_uuid desc, code desc offset ${size - 1} limit 1`
}

export function selectDispatchRange(sql: Sql, companyId: number, dispatchId: number) {
  return sql<{ least: string | null; greatest: string | null }[]>`
    select first_uuid as least, last_uuid as greatest from dispatches
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
}

export function selectNewestClicks(sql: Sql, companyId: number, code: string, limit: number) {
  return sql<{ clickedAt: Date }[]>`
    select clicked_at from link_clicks
    where company_id = ${companyId} and code = ${code} order by click_id desc limit ${limit}`
}
