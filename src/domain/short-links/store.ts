import type { Sql } from '../../db/sql.ts'
import type { ShortLink } from './short-link.ts'

/**
 * Writes links whose codes are free and tells which: the places in the list given. Rows go in by the order of their
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
    select company_id as "companyId", message_uuid as "messageUuid", url from short_links where code = ${code}`
}

/** The same, and it cannot be forgotten before the transaction ends. */
export function selectLinkForShare(sql: Sql, code: string) {
  return sql<FoundLink[]>`
    select company_id as "companyId", message_uuid as "messageUuid", url from short_links where code = ${code} for share`
}

export const insertClick = (sql: Sql, companyId: number, code: string, now: Date) =>
  sql`insert into link_clicks (company_id, code, clicked_at) values (${companyId}, ${code}, ${now})`

export function countClicks(sql: Sql, companyId: number, codes: string[]) {
  return sql<{ code: string; clicks: number }[]>`
    select code, count(*) as clicks from link_clicks
    where company_id = ${companyId} and code = any(${codes}::text[]) group by code`
}

export type SeenLink = { code: string; url: string; clicks: number; clickedAt: Date[] }

/** The links of a message among these codes, each with its first clicks. */
export function selectClicked(sql: Sql, companyId: number, messageUuid: string, codes: string[], most: number) {
  return sql<SeenLink[]>`
    select l.code, l.url, (
        select count(*) from link_clicks c where c.company_id = l.company_id and c.code = l.code) as clicks,
      array(
        select c.clicked_at from link_clicks c where c.company_id = l.company_id and c.code = l.code
        order by c.click_id limit ${most}) as "clickedAt"
    from short_links l
    where l.code = any(${codes}::text[]) and l.company_id = ${companyId} and l.message_uuid = ${messageUuid}`
}

export function deleteOldLinks(sql: Sql, before: Date, limit: number) {
  return sql<{ companyId: number; code: string }[]>`
    delete from short_links
    where code in (select code from short_links where created_at < ${before} order by created_at limit ${limit})
    returning company_id as "companyId", code`
}

export function deleteClicks(sql: Sql, links: { companyId: number; code: string }[]) {
  return sql`
    delete from link_clicks c using unnest(
      ${links.map(link => link.companyId)}::bigint[], ${links.map(link => link.code)}::text[]) q (company_id, code)
    where c.company_id = q.company_id and c.code = q.code`
}
