import type { Sql } from '../../db/sql.ts'
import { REMOVED } from '../messages/message.ts'
import type { KeyRange } from '../messages/texts.ts'
import { type InboundChannel, type InboundRule, inboundChannels } from './rule.ts'

export const selectNow = (sql: Sql) => sql<{ now: Date }[]>`select clock_timestamp() as now`

export type Owner = { companyId: number; currency: string; channelType: InboundChannel; senderIds: number[] }

/**
 * Companies that a message to a name may be for: the name is approved in the gateway's channel, and `inbound` is on.
 */
export function selectOwners(sql: Sql, channelType: string, senderName: string) {
  return sql<Owner[]>`
    select c.company_id, c.currency, s.channel_type, array_agg(s.sender_id) as sender_ids
    from senders s join companies c on c.company_id = s.company_id
    where s.channel_type = ${channelType} and s.channel_type = any(${[...inboundChannels]}::text[])
      and s.sender_name = ${senderName} and s.status = 'APPROVED' and c.inbound
    group by c.company_id, c.currency, s.channel_type
    order by c.company_id`
}

export const selectChannel = (sql: Sql, gatewayId: number) =>
  sql<{ channelType: string }[]>`select channel_type from gateways where gateway_id = ${gatewayId}`

/** Whether a company has the message already, and when it last sent to the subscriber under one of these names. */
export function selectClaim(sql: Sql, { companyId, senderIds }: Owner, gatewayId: number, message: NewInbound) {
  return sql<{ companyId: number; hasMessage: boolean; lastSentAt: Date | null }[]>`
    select ${companyId}::bigint as company_id, exists (
        select from inbound_messages
        where company_id = ${companyId} and gateway_id = ${gatewayId} and provider_id = ${message.providerId}
      ) as has_message, (
        select max(last.sent_at) from unnest(${senderIds}::bigint[]) own (sender_id)
        cross join lateral (
          select m.sent_at from messages m
          where m.company_id = ${companyId} and m.destination = ${message.destination} and m.sender_id = own.sender_id
            and m.sent_at is not null
          order by m.message_uuid desc limit 1) last) as last_sent_at`
}

export type NewInbound = {
  providerId: string | null
  senderName: string
  destination: string
  text: string
  receivedAt: Date
}

export type StoredInbound = NewInbound & {
  companyId: number
  uuid: string
  channelType: InboundChannel
  centerId: number
  /** Null if no rule matched. */
  ruleId: number | null
  isStop: boolean
}

/** Returns no row if the gateway has delivered the message before. */
export function insertInbound(sql: Sql, gatewayId: number, m: StoredInbound) {
  return sql<{ uuid: string }[]>`
    insert into inbound_messages (company_id, message_uuid, gateway_id, provider_id, channel_type, sender_name, destination, text,
      center_id, received_at, rule_id, is_stop)
    values (${m.companyId}, ${m.uuid}, ${gatewayId}, ${m.providerId}, ${m.channelType}, ${m.senderName},
      ${m.destination}, ${m.text}, ${m.centerId}, ${m.receivedAt}, ${m.ruleId}, ${m.isStop})
    on conflict (company_id, gateway_id, provider_id) where provider_id is not null do nothing
    returning message_uuid as uuid`
}

/** The condition on the key limits the rows of a subscriber who writes much. The hour allows for clocks that differ. */
export function selectSubscribersThatWrote(
  sql: Sql,
  companyId: number,
  senderName: string,
  destinations: string[],
  since: Date,
) {
  return sql<{ destination: string }[]>`
    select destination from unnest(${destinations}::text[]) q (destination)
    where exists (
      select from inbound_messages i
      where i.company_id = ${companyId} and i.destination = q.destination
        and i.message_uuid >= uuid7_floor(${since}::timestamptz - interval '1 hour')
        and i.sender_name = ${senderName} and i.received_at >= ${since})`
}

/** Inserts no row if the gateway has delivered the stop word before. */
export function insertStop(sql: Sql, gatewayId: number, providerId: string) {
  return sql`
    insert into inbound_stops (gateway_id, provider_id) values (${gatewayId}, ${providerId}) on conflict do nothing`
}

export const deleteOldStops = (sql: Sql, before: Date) => sql`delete from inbound_stops where heard_at < ${before}`

/** Returns a row if the company has this name for the channel and the name is approved. */
export function selectIsApproved(sql: Sql, companyId: number, channelType: string, senderName: string) {
  return sql`
    select from senders
    where company_id = ${companyId} and channel_type = ${channelType} and sender_name = ${senderName}
      and status = 'APPROVED'
    limit 1`
}

// Searching messages --------------------------------------------------------------------------------------------------

export type InboundQuestion = {
  companyId: number
  /** Keys from `least`, which is included, up to `greatest`, which is not. */
  least: string
  greatest: string
  uuid?: string | undefined
  number?: string | undefined
  /** Numbers from `from`, which is included, up to `before`, which is not. */
  beginning?: { from: string; before: string } | undefined
  centerId?: number | undefined
  /** The number contains `digits`, or the text contains `typed`. */
  digits?: { digits: string; typed: string } | undefined
  /** The text contains all of these words. */
  words?: string[] | undefined
}

export type ShownInbound = {
  uuid: string
  channelType: InboundChannel
  senderName: string
  destination: string
  text: string
  receivedAt: Date
  isStop: boolean
  centerId: number
  centerName: string | null
  ruleId: number | null
  /** False if the rule has been removed. */
  isRuleThere: boolean
}

export function selectShown(sql: Sql, question: InboundQuestion, limit: number) {
  return sql<ShownInbound[]>`
    select m.message_uuid as uuid, m.channel_type, m.sender_name, m.destination, m.text,
      m.received_at, m.is_stop, m.center_id, c.name as center_name,
      m.rule_id, r.rule_id is not null as is_rule_there
    from (
      select * from inbound_messages i
      where company_id = ${question.companyId} and message_uuid >= ${question.least} and message_uuid < ${question.greatest}
        ${conditionsOf(sql, question)}
      order by message_uuid desc limit ${limit}) m
    left join traffic_centers c on c.company_id = m.company_id and c.center_id = m.center_id
    left join inbound_rules r on r.company_id = m.company_id and r.rule_id = m.rule_id
    order by m.message_uuid desc`
}

/** Counts the found messages of each company, at most `most`, and returns the first five companies that have any. */
export function countByCompany(sql: Sql, companyIds: number[], question: Conditions, most: number) {
  return sql<{ companyId: number; companyName: string; count: number }[]>`
    select c.company_id, c.name as company_name, written.count
    from companies c
    cross join lateral (
      select count(*)::int as count from (
        select company_id from inbound_messages i
        where company_id = c.company_id and message_uuid >= ${question.least} and message_uuid < ${question.greatest}
          ${conditionsOf(sql, question)}
        limit ${most}) found) written
    where c.company_id = any(${companyIds}::bigint[]) and written.count > 0
    order by c.company_id limit 5`
}

type Conditions = Omit<InboundQuestion, 'companyId'>

const conditionsOf = (sql: Sql, { uuid, number, beginning, centerId, digits, words }: Conditions) => sql`
  ${uuid ? sql`and message_uuid = ${uuid}` : sql``}
  ${number ? sql`and destination = ${number}` : sql``}
  ${beginning ? sql`and destination >= ${beginning.from} and destination < ${beginning.before}` : sql``}
  ${centerId === undefined ? sql`` : sql`and center_id = ${centerId}`}
  ${digits ? sql`and (destination like ${`%${digits.digits}%`} or text ilike ${like(digits.typed)})` : sql``}
  ${words ? sql`and text ilike all(${words.map(like)}::text[])` : sql``}`

const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/** The key of the oldest message in a block of `size` messages below `greatest`. No row if there are fewer messages. */
export function selectFloor(sql: Sql, { companyId, least, greatest }: InboundQuestion, size: number) {
  return sql<{ uuid: string }[]>`
    select message_uuid as uuid from inbound_messages
    where company_id = ${companyId} and message_uuid >= ${least} and message_uuid < ${greatest}
    order by message_uuid desc offset ${size - 1} limit 1`
}

/** Limits the time of a statement, and makes PostgreSQL plan each statement for its own values. */
export const limitStatement = (sql: Sql, timeoutMs: number) => sql`
  select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('statement_timeout', ${`${timeoutMs}ms`}, true)`

// Rules -----------------------------------------------------------------------------------------------------------

const ruleColumns = (sql: Sql) => sql`
  company_id, rule_id, channel_type,
  coalesce(sender_names, '{}') as sender_names, center_id, callback_url`

export function selectRules(sql: Sql, companyId: number, channelType: InboundChannel) {
  return sql<InboundRule[]>`
    select ${ruleColumns(sql)} from inbound_rules
    where company_id = ${companyId} and channel_type = ${channelType}
    order by rule_id`
}

export type ListedRule = InboundRule & { centerName: string }

export function listRules(sql: Sql, companyId?: number) {
  return sql<ListedRule[]>`
    select ${ruleColumns(sql)}, name as center_name
    from inbound_rules join traffic_centers using (company_id, center_id)
    where ${companyId ?? null}::bigint is null or company_id = ${companyId ?? null}
    order by company_id, rule_id`
}

export function insertRule(sql: Sql, rule: Omit<InboundRule, 'ruleId'>) {
  return sql<{ ruleId: number }[]>`
    insert into inbound_rules (company_id, channel_type, sender_names, center_id, callback_url)
    values (${rule.companyId}, ${rule.channelType}, ${rule.senderNames.length > 0 ? rule.senderNames : null}::text[],
      ${rule.centerId}, ${rule.callbackUrl})
    returning rule_id`
}

export const countRules = (sql: Sql, companyId: number) =>
  sql<{ rules: number }[]>`select count(*) as rules from inbound_rules where company_id = ${companyId}`

/** Locks the rule until the transaction ends. */
export function selectRuleForUpdate(sql: Sql, companyId: number, ruleId: number) {
  return sql<ListedRule[]>`
    select ${ruleColumns(sql)}, name as center_name
    from inbound_rules join traffic_centers using (company_id, center_id)
    where company_id = ${companyId} and rule_id = ${ruleId}
    for update of inbound_rules`
}

export function updateRule(sql: Sql, rule: InboundRule) {
  return sql`
    update inbound_rules
    set sender_names = ${rule.senderNames.length > 0 ? rule.senderNames : null}::text[], center_id = ${rule.centerId},
      callback_url = ${rule.callbackUrl}
    where company_id = ${rule.companyId} and rule_id = ${rule.ruleId}`
}

export const deleteRule = (sql: Sql, companyId: number, ruleId: number) =>
  sql`delete from inbound_rules where company_id = ${companyId} and rule_id = ${ruleId}`

/** Removes the texts of messages with these keys. */
export const deleteTexts = (sql: Sql, companyId: number, { after, until }: KeyRange) => sql`
  update inbound_messages set text = ${REMOVED}, content = null
  where company_id = ${companyId} and message_uuid > ${after} and message_uuid <= ${until}
    and (text <> ${REMOVED} or content is not null)`
