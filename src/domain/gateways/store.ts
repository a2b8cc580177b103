import type { ChannelType } from '../../base/channel-types.ts'
import { uuidRange } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import type { Gateway, GatewayChange, NewGateway, SimulatedInbound } from './gateway.ts'

const columns = (sql: Sql) => sql`
  gateway_id, name, channel_type, connector, brands, settings,
  secrets as sealed, parts_per_second, paused, paused_at, drain_until,
  companies, version`

export const listGateways = (sql: Sql) => sql<Gateway[]>`select ${columns(sql)} from gateways order by gateway_id`

export const selectGateway = (sql: Sql, gatewayId: number) =>
  sql<Gateway[]>`select ${columns(sql)} from gateways where gateway_id = ${gatewayId}`

/** The settings with these names, of the gateways of these channels. */
export function selectNameSettings(sql: Sql, channelTypes: string[], names: string[]) {
  return sql<Pick<Gateway, 'channelType' | 'settings'>[]>`
    select g.channel_type, jsonb_object_agg(s.key, s.value) as settings
    from gateways g cross join lateral jsonb_each(g.settings) s
    where g.channel_type = any(${channelTypes}::text[]) and s.key = any(${names}::text[])
    group by g.gateway_id`
}

export const lockGateway = (sql: Sql, gatewayId: number) =>
  sql<Gateway[]>`select ${columns(sql)} from gateways where gateway_id = ${gatewayId} for update`

export function insertGateway(sql: Sql, gateway: NewGateway & Pick<Gateway, 'sealed'>) {
  return sql<Gateway[]>`
    insert into gateways (name, channel_type, connector, brands, settings, secrets, parts_per_second, companies)
    values (${gateway.name}, ${gateway.channelType}, ${gateway.connector}, ${gateway.brands}::smallint[],
      ${sql.json(gateway.settings as never)}, ${gateway.sealed}, ${gateway.partsPerSecond},
      ${gateway.companies ?? []}::bigint[])
    on conflict (name) do nothing
    returning ${columns(sql)}`
}

/** Given settings replace all settings. Without them the settings do not change. */
export function updateGateway(
  sql: Sql,
  gatewayId: number,
  change: Omit<GatewayChange, 'settings'>,
  kept: Pick<Gateway, 'settings' | 'sealed'> | undefined,
) {
  return sql<Gateway[]>`
    update gateways set
      name = coalesce(${change.name ?? null}, name),
      brands = coalesce(${change.brands ?? null}::smallint[], brands),
      settings = coalesce(${kept ? sql.json(kept.settings as never) : null}::jsonb, settings),
      secrets = case when ${kept !== undefined} then ${kept?.sealed ?? null}::bytea else secrets end,
      parts_per_second = case when ${change.partsPerSecond !== undefined} then ${change.partsPerSecond ?? null}
        else parts_per_second end,
      paused = coalesce(${change.paused ?? null}, paused),
      paused_at = case when ${change.paused ?? null}::boolean is null then paused_at
        when ${change.paused ?? null}::boolean then coalesce(paused_at, now()) end,
      drain_until = case when ${change.paused ?? null}::boolean is null then drain_until
        else ${change.drainUntil ?? null}::timestamptz end,
      companies = coalesce(${change.companies ?? null}::bigint[], companies),
      version = version + 1,
      updated_at = now()
    where gateway_id = ${gatewayId}
    returning ${columns(sql)}`
}

export type NamedGateway = Pick<Gateway, 'channelType' | 'connector' | 'settings' | 'companies'>

export const selectGatewaysOf = (sql: Sql, channelTypes: readonly string[]) =>
  sql<NamedGateway[]>`
    select channel_type, connector, settings, companies from gateways
    where channel_type = any(${[...channelTypes]}::text[])`

/** Names of these channels that the company has registered and may use, in every given spelling. */
export function selectRegistered(sql: Sql, companyId: number, channelTypes: string[], names: string[]) {
  return sql<{ channelType: ChannelType; senderName: string }[]>`
    select distinct channel_type, sender_name from senders
    where company_id = ${companyId} and channel_type = any(${channelTypes}::text[])
      and sender_name = any(${names}::text[]) and status = 'APPROVED' and not suspended`
}

/** Makes the engines read their gateways at once. */
export const notifyGateways = (sql: Sql) => sql`select pg_notify('tidings_gateways', '')`

export const deleteGateway = (sql: Sql, gatewayId: number) => sql`delete from gateways where gateway_id = ${gatewayId}`

export type SimulatedMessage = {
  companyId: number
  uuid: string
  senderName: string
  destination: string
  channelType: string
  text: string
}

/**
 * A statement of its own, never in a transaction with others: its commit does not wait for the disk, as a real operator does
 * not wait for our disk either. When the database crashes, the outbox may forget the messages of the last half second. An
 * engine that still runs has their results and reports; if it ends before a report, the message stays SENT until its
 * lifetime ends. If the engine crashes before it has recorded the result, the message is sent again.
 */
export function storeSimulated(sql: Sql, gatewayId: number, worker: string, messages: SimulatedMessage[]) {
  const stored = messages.map(({ companyId, uuid, senderName, destination, channelType, text }) => ({
    companyId,
    uuid,
    senderName,
    destination,
    channelType,
    text,
  }))
  return sql`
    insert into simulator_batches (gateway_id, worker, message_count, messages)
    select ${gatewayId}::bigint, ${worker}::uuid, ${messages.length}::int, ${JSON.stringify(stored)}::text
    from set_config('synchronous_commit', 'off', true)`
}

/** Messages that a simulated operator took through other engines, so many seconds ago. */
export function selectSimulatedOfOthers(sql: Sql, gatewayId: number, worker: string, { least, most }: Age) {
  return sql<Pick<SimulatedMessage, 'companyId' | 'uuid' | 'destination'>[]>`
    select company_id, message_uuid as uuid, destination from simulator_outbox()
    where gateway_id = ${gatewayId} and worker <> ${worker}
      and accepted_at < clock_timestamp() - make_interval(secs => ${least})
      and accepted_at > clock_timestamp() - make_interval(secs => ${most})`
}

/** Seconds since a message was accepted. */
export type Age = { least: number; most: number }

export function selectSent(sql: Sql, companyId: number, uuids: string[]) {
  const range = uuidRange(uuids)
  return sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[])
      and message_uuid between ${range.first} and ${range.last} and status = 'SENT'`
}

export const simulatorOutbox = (sql: Sql) => sql<SimulatedMessage[]>`
  select company_id, message_uuid as uuid, sender_name, destination, channel_type, text
  from simulator_outbox() order by simulator_id`

/** Searches only the newest batches, and their texts before their JSON, because there is no index by the message id. */
export const selectSimulated = (sql: Sql, companyId: number, uuid: string, newest: number) => sql<SimulatedMessage[]>`
  select company_id, message_uuid as uuid, sender_name, destination, channel_type, text from simulator_outbox()
  where company_id = ${companyId} and message_uuid = ${uuid} and batch_id = any(array(
    select batch_id from simulator_batches
    where batch_id > (select max(batch_id) from simulator_batches) - ${newest}::int and strpos(messages, ${uuid}) > 0))
  limit 1`

/** Deletes all batches but the newest, which have at least so many messages. */
export const trimSimulated = (sql: Sql, keep: number) => sql`
  with old_messages as (delete from simulator_messages where accepted_at < now() - interval '1 day')
  delete from simulator_batches where batch_id <= (
    select max(batch_id) from (
      select batch_id, sum(message_count) over (order by batch_id desc) - message_count as newer from simulator_batches)
      counted
    where newer >= ${keep})`

export function insertInbound(
  sql: Sql,
  channelType: string,
  { from, to, text }: Pick<SimulatedInbound, 'from' | 'to' | 'text'>,
) {
  return sql`
    insert into simulator_inbound (channel_type, sender_name, destination, text)
    values (${channelType}, ${to}, ${from}, ${text})`
}

export const selectAnyInbound = (sql: Sql, channelType: string) =>
  sql`select 1 from simulator_inbound where channel_type = ${channelType} limit 1`

export function lockInbound(sql: Sql, channelType: string) {
  return sql<(Omit<SimulatedInbound, 'providerId'> & { inboundId: number })[]>`
    select inbound_id, destination as "from", sender_name as "to", text, written_at as received_at
    from simulator_inbound where channel_type = ${channelType}
    order by inbound_id limit 100 for update skip locked`
}

export const deleteInbound = (sql: Sql, inboundId: number) =>
  sql`delete from simulator_inbound where inbound_id = ${inboundId}`
