import { spellingsOf } from '../../base/content/bot-names.ts'
import type { Sql } from '../../db/sql.ts'
import { type BlacklistEntry, type BlacklistPlace, type Source, STOP_WORD_COMMENT } from './entry.ts'
import { ERASED } from './erased.ts'

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
    select c.company_id, given.destination, ${comment}::text, ${source}::text
    from companies c, (select distinct destination from unnest(${numbers}::text[]) destination) given
    where c.company_id = ${companyId}
    order by given.destination
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
    select count(*) as total from (select company_id from blacklist where company_id = ${companyId} limit ${most}) counted`

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

/** Whether the company has entries, and entries of erased numbers. */
export const selectAnyEntry = (sql: Sql, companyId: number) => sql<{ hasErased: boolean }[]>`
  select exists (
    select 1 from blacklist where company_id = ${companyId} and destination > ${ERASED}) as has_erased
  from blacklist where company_id = ${companyId} limit 1`

/** Copies an entry without its comment to another name. */
export const copyEntry = (sql: Sql, companyId: number, destination: string, name: string) => sql`
  insert into blacklist (company_id, destination, source, created_at)
  select b.company_id, ${name}::text, b.source, b.created_at from blacklist b
  where b.company_id = ${companyId} and b.destination = ${destination}
  on conflict (company_id, destination) do nothing`

export function selectEntries(sql: Sql, companyId: number, numbers: string[]) {
  return sql<{ destination: string }[]>`
    select destination from blacklist where company_id = ${companyId} and destination = any(${numbers}::text[])`
}

/** The gateway that a stop word came through, and the name that the subscriber wrote to. */
export type WrittenTo = {
  channelType: string
  /** The companies that the gateway lists. */
  companies: number[]
  to: string
  /** The name belongs to the gateway. */
  isOwned: boolean
}

export const selectGateway = (sql: Sql, gatewayId: number) =>
  sql<Pick<WrittenTo, 'channelType' | 'companies'>[]>`
    select channel_type, companies from gateways where gateway_id = ${gatewayId}`

/** A number of a company that goes on its blacklist. */
export type StoppedNumber = { companyId: number; destination: string }

/** The companies that have or had the name: a subscriber may answer an old message. */
export const selectOfSenders = (sql: Sql, written: WrittenTo, destination: string) => sql<StoppedNumber[]>`
  select distinct s.company_id, ${destination}::text as destination from senders s
  where s.channel_type = ${written.channelType} and ${isCalled(sql, written)} and s.status in ('APPROVED', 'CLOSED')`

/** Names without registration are known by the companies that uploaded their subscribers. */
export const selectOfSubscribers = (sql: Sql, written: WrittenTo, by: { destination?: string; address?: string }) =>
  sql<StoppedNumber[]>`
    select distinct s.company_id, s.destination from subscribers s
    where s.channel_type = ${written.channelType} and ${isCalled(sql, written)}
      and ${by.address === undefined ? sql`s.destination = ${by.destination ?? ''}` : sql`s.address = ${by.address}`}
      and ${mayUse(sql, written)}`

/** The companies that the gateway lists, if the name belongs to it. */
export const selectListed = (sql: Sql, { companies, isOwned }: WrittenTo, destination: string) => sql<StoppedNumber[]>`
  select company_id, ${destination}::text as destination from companies
  where company_id = any(${isOwned ? companies : []}::bigint[])`

export function insertStops(sql: Sql, companyId: number, destinations: string[]) {
  return sql<{ companyId: number }[]>`
    insert into blacklist (company_id, destination, comment, source)
    select c.company_id, destination, ${STOP_WORD_COMMENT}::text, 'STOP'
    from companies c, unnest(${destinations}::text[]) destination
    where c.company_id = ${companyId}
    on conflict (company_id, destination) do update set comment = coalesce(blacklist.comment, excluded.comment)
    returning company_id`
}

/** A company may have uploaded subscribers before the name got its owners. */
const mayUse = (sql: Sql, { isOwned, companies, channelType }: WrittenTo) =>
  isOwned
    ? sql`(s.company_id = any(${companies}::bigint[]) or exists (
        select from senders own
        where own.company_id = s.company_id and own.channel_type = ${channelType}
          and ltrim(own.sender_name, '@') = ltrim(s.sender_name, '@') and own.status in ('APPROVED', 'CLOSED')))`
    : sql`true`

/** In a channel of bots both spellings are equal. Elsewhere the name must match exactly: `@SHOP` and `SHOP` may be two senders of SMS. */
const isCalled = (sql: Sql, { channelType, to }: WrittenTo) =>
  channelType === 'TELEGRAM'
    ? sql`s.sender_name = any(${spellingsOf('TELEGRAM', to)}::text[])`
    : sql`s.sender_name = ${to}`
