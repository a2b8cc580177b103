import { spellingsOf } from '../../base/bot-names.ts'
import type { Sql } from '../../db/sql.ts'

export function upsertEntry(sql: Sql, companyId: number, msisdn: string, comment: string | null) {
  return sql`
    insert into blacklist (company_id, msisdn, comment) values (${companyId}, ${msisdn}, ${comment})
    on conflict (company_id, msisdn) do update set comment = coalesce(excluded.comment, blacklist.comment)`
}

export const deleteEntry = (sql: Sql, companyId: number, msisdn: string) =>
  sql`delete from blacklist where company_id = ${companyId} and msisdn = ${msisdn}`

export const countEntries = (sql: Sql, companyId: number) =>
  sql<{ total: number }[]>`select count(*) as total from blacklist where company_id = ${companyId}`

export function selectNewest(sql: Sql, companyId: number, limit: number) {
  return sql<{ msisdn: string; comment: string | null; createdAt: Date }[]>`
    select msisdn, comment, created_at as "createdAt" from blacklist where company_id = ${companyId}
    order by created_at desc, msisdn limit ${limit}`
}

export const selectAnyEntry = (sql: Sql, companyId: number) =>
  sql`select 1 from blacklist where company_id = ${companyId} limit 1`

export function selectEntries(sql: Sql, companyId: number, numbers: string[]) {
  return sql<{ msisdn: string }[]>`
    select msisdn from blacklist where company_id = ${companyId} and msisdn = any(${numbers}::text[])`
}

/** Names that are in use, or were: what was sent under them may be answered later. */
export function insertStop(sql: Sql, gatewayId: number, { to: senderName, isOwned }: WrittenTo, msisdn: string) {
  return sql<{ companyId: number }[]>`
    insert into blacklist (company_id, msisdn, comment)
    select s.company_id, ${msisdn}, 'Asked by the subscriber'
    from gateways g join senders s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.status in ('APPROVED', 'CLOSED')
    union -- names without registration are known by whoever uploaded their subscribers
    select s.company_id, ${msisdn}, 'Asked by the subscriber'
    from gateways g join subscribers s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.destination = ${msisdn}
      and ${mayUse(sql, isOwned)}
    union
    select c.company_id, ${msisdn}, 'Asked by the subscriber'
    from gateways g join companies c on c.company_id = any(g.companies)
    where g.gateway_id = ${gatewayId} and ${isOwned}
    ${keepingComments(sql)}`
}

/** Each company by the number that it uploaded for the chat itself: nobody can speak for another's subscribers. */
export function insertStopOfChat(sql: Sql, gatewayId: number, { to: senderName, isOwned }: WrittenTo, address: string) {
  return sql<{ companyId: number }[]>`
    insert into blacklist (company_id, msisdn, comment)
    select distinct s.company_id, s.destination, 'Asked by the subscriber'
    from gateways g join subscribers s using (channel_type)
    where g.gateway_id = ${gatewayId} and ${isCalled(sql, senderName)} and s.address = ${address}
      and ${mayUse(sql, isOwned)}
    ${keepingComments(sql)}`
}

/** The name that a subscriber wrote to, and whether it is one of the gateway's own. */
type WrittenTo = { to: string; isOwned: boolean }

/** Subscribers may have been uploaded before the name got its owners. */
const mayUse = (sql: Sql, isOwned: boolean) => sql`
  (not ${isOwned} or s.company_id = any(g.companies) or exists (
    select from senders own
    where own.company_id = s.company_id and own.channel_type = g.channel_type and ltrim(own.sender_name, '@') = ltrim(s.sender_name, '@')
      and own.status in ('APPROVED', 'CLOSED')))`

/** In a channel of bots in either spelling, elsewhere to the letter: `@SHOP` and `SHOP` may be two senders of SMS. */
const isCalled = (sql: Sql, name: string) => sql`
  s.sender_name = any(${spellingsOf('TELEGRAM', name)}::text[])
  and (g.channel_type = 'TELEGRAM' or s.sender_name = ${name})`

const keepingComments = (sql: Sql) => sql`
  on conflict (company_id, msisdn) do update set comment = coalesce(blacklist.comment, excluded.comment)
  returning company_id as "companyId"`
