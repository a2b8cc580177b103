import { spellingsOf } from '../../base/content/bot-names.ts'
import type { Sql } from '../../db/sql.ts'
import { type BlacklistEntry, type BlacklistPlace, type Source, STOP_WORD_COMMENT } from './entry.ts'

/** Adds a number. An existing entry keeps its source. A new comment replaces the old one. */
export function addToBlacklist(
  sql: Sql,
  companyId: number,
  destination: string,
  comment: string | undefined,
  source: Source = 'STAFF',
) {
  return sql`
    insert into blacklist (company_id, destination, comment, source) values (${companyId}, ${destination}, ${comment ?? null}, ${source})
    on conflict (company_id, destination) do update set comment = coalesce(excluded.comment, blacklist.comment)`
}

/** Adds new numbers only. They are sorted, so that two imports of the same file cannot block each other. */
export function insertEntries(sql: Sql, companyId: number, numbers: string[], comment: string | null, source: Source) {
  return sql`
    insert into blacklist (company_id, destination, comment, source)
    select ${companyId}, destination, ${comment}, ${source}
    from (select distinct destination from unnest(${numbers}::text[]) destination order by destination) given
    on conflict (company_id, destination) do nothing`
}

export const deleteEntry = (sql: Sql, companyId: number, destination: string) =>
  sql<{ comment: string | null; source: Source | null }[]>`
    delete from blacklist where company_id = ${companyId} and destination = ${destination} returning comment, source`

export const selectEntry = (sql: Sql, companyId: number, destination: string) =>
  sql<BlacklistEntry[]>`
    select ${columns(sql)} from blacklist where company_id = ${companyId} and destination = ${destination} for update`

export const countEntries = (sql: Sql, companyId: number) =>
  sql<{ total: number }[]>`select count(*) as total from blacklist where company_id = ${companyId}`

/** Counts at most `most` entries: a list may have millions. */
export const countEntriesUpTo = (sql: Sql, companyId: number, most: number) =>
  sql<{ total: number }[]>`
    select count(*) as total from (select from blacklist where company_id = ${companyId} limit ${most}) counted`

const columns = (sql: Sql) => sql`
  destination, comment, source, created_at, (extract(epoch from created_at) * 1000000)::bigint as micros`

/** The newest first. Entries of one import have the same time, and go by their numbers. */
export function selectNewest(sql: Sql, companyId: number, limit: number, after?: BlacklistPlace) {
  const older = after
    ? sql`and (created_at, destination) < (timestamptz 'epoch' + ${after.micros}::bigint * interval '1 microsecond', ${after.destination}::text)`
    : sql``
  return sql<BlacklistEntry[]>`
    select ${columns(sql)} from blacklist where company_id = ${companyId} ${older}
    order by created_at desc, destination desc limit ${limit}`
}

/** In the order of the numbers, from a number on, which is included unless it is the last of the previous page. */
export function selectByNumber(sql: Sql, companyId: number, { from, before, after }: NumberRange, limit: number) {
  return sql<BlacklistEntry[]>`
    select ${columns(sql)} from blacklist
    where company_id = ${companyId} and destination >= ${from}
      ${before === undefined ? sql`` : sql`and destination < ${before}`}
      ${after === undefined ? sql`` : sql`and destination > ${after}`}
    order by destination limit ${limit}`
}

export type NumberRange = { from: string; before?: string | undefined; after?: string | undefined }

export const selectAnyEntry = (sql: Sql, companyId: number) =>
  sql`select 1 from blacklist where company_id = ${companyId} limit 1`

export function selectEntries(sql: Sql, companyId: number, numbers: string[]) {
  return sql<{ destination: string }[]>`
    select destination from blacklist where company_id = ${companyId} and destination = any(${numbers}::text[])`
}

/** Names that are or were in use: a subscriber may answer an old message. */
export function insertStop(sql: Sql, gatewayId: number, { to: senderName, isOwned }: WrittenTo, destination: string) {
  return sql<{ companyId: number }[]>`
    insert into blacklist (company_id, destination, comment, source)
    select s.company_id, ${destination}, ${STOP_WORD_COMMENT}, 'STOP'
    from gateways g join senders s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.status in ('APPROVED', 'CLOSED')
    union -- names without registration are known by whoever uploaded their subscribers
    select s.company_id, ${destination}, ${STOP_WORD_COMMENT}, 'STOP'
    from gateways g join subscribers s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.destination = ${destination}
      and ${mayUse(sql, isOwned)}
    union
    select c.company_id, ${destination}, ${STOP_WORD_COMMENT}, 'STOP'
    from gateways g join companies c on c.company_id = any(g.companies)
    where g.gateway_id = ${gatewayId} and ${isOwned}
    ${keepingComments(sql)}`
}

/** Each company with the number that it uploaded for the chat: no company can change the subscribers of another. */
export function insertStopOfChat(sql: Sql, gatewayId: number, { to: senderName, isOwned }: WrittenTo, address: string) {
  return sql<{ companyId: number }[]>`
    insert into blacklist (company_id, destination, comment, source)
    select distinct s.company_id, s.destination, ${STOP_WORD_COMMENT}, 'STOP'
    from gateways g join subscribers s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.address = ${address}
      and ${mayUse(sql, isOwned)}
    ${keepingComments(sql)}`
}

/** The name that a subscriber wrote to, and whether it belongs to the gateway. */
type WrittenTo = { to: string; isOwned: boolean }

/** A company may have uploaded subscribers before the name got its owners. */
const mayUse = (sql: Sql, isOwned: boolean) => sql`
  (not ${isOwned} or s.company_id = any(g.companies) or exists (
    select from senders own
    where own.company_id = s.company_id and own.channel_type = g.channel_type and ltrim(own.sender_name, '@') = ltrim(s.sender_name, '@')
      and own.status in ('APPROVED', 'CLOSED')))`

/** In a channel of bots both spellings are equal. Elsewhere the name must match exactly: `@SHOP` and `SHOP` may be two senders of SMS. */
const isCalled = (sql: Sql, name: string) => sql`
  s.sender_name = any(${spellingsOf('TELEGRAM', name)}::text[])
  and (g.channel_type = 'TELEGRAM' or s.sender_name = ${name})`

const keepingComments = (sql: Sql) => sql`
  on conflict (company_id, destination) do update set comment = coalesce(blacklist.comment, excluded.comment)
  returning company_id`
