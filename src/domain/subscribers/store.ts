import { spellingsOf } from '../../base/content/bot-names.ts'
import type { Sql } from '../../db/sql.ts'
import type { Chat, Subscriber, SubscribersOf } from './subscriber.ts'

export function insertSubscribers(sql: Sql, whose: SubscribersOf, subscribers: Subscriber[]) {
  return sql`
    insert into subscribers (company_id, channel_type, sender_name, destination, address)
    select distinct o.company_id, ${whose.channelType}::text, ${whose.senderName}::text, q.* from companies o, unnest(
      ${subscribers.map(({ destination }) => destination)}::text[], ${subscribers.map(({ address }) => address)}::text[]) q
    where o.company_id = ${whose.companyId}
    on conflict do nothing`
}

/** The company and the sender name for which addresses are read. */
export type AddressQuery = { senderName: string; destination: string }

/** An address of a number, and since when it is known. */
export type KnownAddress = Subscriber & AddressQuery & { since: Date }

/** The addresses that the company uploaded. */
export function selectUploaded(sql: Sql, whose: Omit<SubscribersOf, 'senderName'>, asked: AddressQuery[]) {
  const { companyId, channelType } = whose
  const spelt = asked.flatMap(one => spellingsOf(channelType, one.senderName).map(spelling => ({ ...one, spelling })))
  return sql<KnownAddress[]>`
    select q.sender_name, s.destination, s.address, s.created_at as since
    from unnest(
      ${spelt.map(({ senderName }) => senderName)}::text[], ${spelt.map(({ spelling }) => spelling)}::text[],
      ${spelt.map(({ destination }) => destination)}::text[]) q (sender_name, spelling, destination)
    join subscribers s on s.sender_name = q.spelling and s.destination = q.destination
    where s.company_id = ${companyId} and s.channel_type = ${channelType}`
}

/** The chats that the bot itself reported. */
export function selectReported(sql: Sql, gatewayId: number, asked: AddressQuery[]) {
  return sql<KnownAddress[]>`
    select q.sender_name, chat.destination, chat.address, chat.seen_at as since
    from unnest(
      ${asked.map(({ senderName }) => senderName)}::text[], ${asked.map(({ destination }) => destination)}::text[]
    ) q (sender_name, destination)
    join gateway_chats chat on chat.gateway_id = ${gatewayId} and chat.destination = q.destination`
}

/** Which of these addresses blocked the bot. */
export const selectGone = (sql: Sql, gatewayId: number, addresses: string[]) => sql<{ address: string }[]>`
  select address from gateway_chats where gateway_id = ${gatewayId} and address = any(${addresses}::text[]) and gone`

export function selectChats(sql: Sql, gatewayId: number, destination: string) {
  return sql<{ address: string }[]>`
    select address from gateway_chats where gateway_id = ${gatewayId} and destination = ${destination}
    order by gone, seen_at desc`
}

export function deleteAddress(sql: Sql, whose: SubscribersOf, address: string) {
  return sql`
    delete from subscribers
    where company_id = ${whose.companyId} and channel_type = ${whose.channelType}
      and sender_name = any(${spellings(whose)}::text[]) and address = ${address}`
}

const spellings = ({ channelType, senderName }: SubscribersOf) => spellingsOf(channelType, senderName)

export const deleteChat = (sql: Sql, gatewayId: number, address: string) =>
  sql`delete from gateway_chats where gateway_id = ${gatewayId} and address = ${address}`

/** A known number stays known if a later report about the chat does not contain it. */
export function upsertChats(sql: Sql, gatewayId: number, chats: Chat[]) {
  return sql`
    insert into gateway_chats (gateway_id, address, destination, gone, seen_at)
    select ${gatewayId}, q.*, clock_timestamp() from unnest(
      ${chats.map(({ address }) => address)}::text[],
      ${chats.map(({ destination }) => destination ?? null)}::text[],
      ${chats.map(({ gone }) => String(gone))}::text[]::boolean[]) q
    on conflict (gateway_id, address) do update set
      destination = coalesce(excluded.destination, gateway_chats.destination),
      gone = excluded.gone, seen_at = excluded.seen_at`
}

export function selectNumber(sql: Sql, gatewayId: number, address: string) {
  return sql<{ destination: string }[]>`
    select destination from gateway_chats
    where gateway_id = ${gatewayId} and address = ${address} and destination is not null`
}
