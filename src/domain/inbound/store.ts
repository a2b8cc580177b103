import type { Sql } from '../../db/sql.ts'
import { type InboundChannel, type InboundRule, inboundChannels } from './rule.ts'

export const selectNow = (sql: Sql) => sql<{ now: Date }[]>`select clock_timestamp() as now`

export type Owner = { companyId: number; currency: string; channelType: InboundChannel; senderIds: number[] }

/** Companies that may be meant by a name in the gateway's channel: it is approved for them, and they may be written to. */
export function selectOwners(sql: Sql, gatewayId: number, senderName: string) {
  return sql<Owner[]>`
    select c.company_id as "companyId", c.currency, g.channel_type as "channelType", array_agg(s.sender_id) as "senderIds"
    from gateways g join senders s using (channel_type) join companies c on c.company_id = s.company_id
    where g.gateway_id = ${gatewayId} and g.channel_type = any(${[...inboundChannels]}::text[])
      and s.sender_name = ${senderName} and s.status = 'APPROVED' and c.inbound
    group by c.company_id, g.channel_type
    order by c.company_id`
}

/**
 * Whose a message is that several companies may be meant by: whoever has it already, for it may be told twice; else
 * whoever sent something to this subscriber last under this name; else the company that was there first.
 */
export function selectOwner(sql: Sql, owners: Owner[], gatewayId: number, message: NewInbound) {
  const names = owners.flatMap(({ companyId, senderIds }) => senderIds.map(senderId => ({ companyId, senderId })))
  return sql<{ companyId: number }[]>`
    select o.company_id as "companyId"
    from unnest(
      ${names.map(({ companyId }) => companyId)}::bigint[], ${names.map(({ senderId }) => senderId)}::bigint[]
    ) o (company_id, sender_id)
    left join lateral (
      select m.sent_at from messages m
      where m.company_id = o.company_id and m.destination = ${message.destination} and m.sender_id = o.sender_id
        and m.sent_at is not null
      order by m.uuid desc limit 1) last on true
    order by exists (
        select from inbound_messages i
        where i.company_id = o.company_id and i.gateway_id = ${gatewayId} and i.provider_id = ${message.providerId}
      ) desc, last.sent_at desc nulls last, o.company_id
    limit 1`
}

export type NewInbound = {
  providerId: string | null
  senderName: string
  destination: string
  text: string
  receivedAt: Date
}

export type KeptInbound = NewInbound & {
  companyId: number
  uuid: string
  channelType: InboundChannel
  centerId: number
}

/** Nothing when the gateway has told of it before. */
export function insertInbound(sql: Sql, gatewayId: number, m: KeptInbound) {
  return sql<{ uuid: string }[]>`
    insert into inbound_messages (company_id, uuid, gateway_id, provider_id, channel_type, sender_name, destination, text,
      center_id, received_at)
    values (${m.companyId}, ${m.uuid}, ${gatewayId}, ${m.providerId}, ${m.channelType}, ${m.senderName},
      ${m.destination}, ${m.text}, ${m.centerId}, ${m.receivedAt})
    on conflict (company_id, gateway_id, provider_id) where provider_id is not null do nothing
    returning uuid`
}

/** The key bounds what is read of a subscriber who writes much; the hour is for clocks that differ. */
export function selectHeard(sql: Sql, companyId: number, senderName: string, destinations: string[], since: Date) {
  return sql<{ destination: string }[]>`
    select destination from unnest(${destinations}::text[]) q (destination)
    where exists (
      select from inbound_messages i
      where i.company_id = ${companyId} and i.destination = q.destination
        and i.uuid >= uuid7_floor(${since}::timestamptz - interval '1 hour')
        and i.sender_name = ${senderName} and i.received_at >= ${since})`
}

/** Nothing when the gateway has told of it before. */
export function insertStop(sql: Sql, gatewayId: number, providerId: string) {
  return sql`
    insert into inbound_stops (gateway_id, provider_id) values (${gatewayId}, ${providerId}) on conflict do nothing`
}

export const deleteOldStops = (sql: Sql, before: Date) => sql`delete from inbound_stops where heard_at < ${before}`

// Rules -----------------------------------------------------------------------------------------------------------

const ruleColumns = (sql: Sql) => sql`
  company_id as "companyId", rule_id as "ruleId", channel_type as "channelType",
  coalesce(sender_names, '{}') as "senderNames", center_id as "centerId", callback_url as "callbackUrl"`

export function selectRules(sql: Sql, companyId: number, channelType: InboundChannel) {
  return sql<InboundRule[]>`
    select ${ruleColumns(sql)} from inbound_rules
    where company_id = ${companyId} and channel_type = ${channelType}
    order by rule_id`
}

export type ListedRule = InboundRule & { centerName: string }

export function selectListedRules(sql: Sql, companyId: number | undefined) {
  return sql<ListedRule[]>`
    select ${ruleColumns(sql)}, name as "centerName"
    from inbound_rules join traffic_centers using (company_id, center_id)
    where ${companyId ?? null}::bigint is null or company_id = ${companyId ?? null}
    order by company_id, rule_id`
}

export function insertRule(sql: Sql, rule: Omit<InboundRule, 'ruleId'>) {
  return sql<{ ruleId: number }[]>`
    insert into inbound_rules (company_id, channel_type, sender_names, center_id, callback_url)
    values (${rule.companyId}, ${rule.channelType}, ${rule.senderNames.length > 0 ? rule.senderNames : null}::text[],
      ${rule.centerId}, ${rule.callbackUrl})
    returning rule_id as "ruleId"`
}

export const deleteRule = (sql: Sql, companyId: number, ruleId: number) =>
  sql`delete from inbound_rules where company_id = ${companyId} and rule_id = ${ruleId}`
