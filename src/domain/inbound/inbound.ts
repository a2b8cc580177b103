import type { ChannelType } from '../../base/channel-types.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { uuid7 } from '../../base/uuid7.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { addStop, isStopWord, STOP_WORDS, type Stop } from '../blacklist/blacklist.ts'
import { enqueueMessagingCallbacks } from '../callbacks/callbacks.ts'
import type { Company } from '../companies/company.ts'
import { findGateway } from '../gateways/gateways.ts'
import { ownsName } from '../gateways/name-owners.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { numberOfChat } from '../subscribers/subscribers.ts'
import { defaultCenter } from '../traffic-centers/traffic-centers.ts'
import { inboundItem } from './item.ts'
import { type InboundChannel, inOrder, isInboundChannel, matchOfRule, type RuleMatch, ruleFor } from './rule.ts'
import * as store from './store.ts'

/**
 * A message from a subscriber. `from` is a number, or `chat:` and the address of a chat, whose number is then looked
 * up.
 */
export type InboundMessage = { from: string; to: string; text: string; receivedAt: Date; providerId?: string }

/**
 * The result for an inbound message: no rule matches it, the number of its subscriber is unknown, it is stored for a
 * company, it was stored before, or it is a stop word. A stop word may be stored as well.
 */
export type InboundOutcome =
  | { kind: 'ignored' }
  | { kind: 'unknown subscriber' }
  | Stored
  | { kind: 'stopped'; companyIds: number[]; messageUuid?: string }

type Stored = { kind: 'kept'; companyId: number; messageUuid: string } | { kind: 'repeated'; companyId: number }

/**
 * Records a message that a gateway received, over its connection or by webhook. One transaction stores it for the
 * company, creates the callbacks that the rule asks for, and obeys stop words. A second call with the same `providerId`
 * changes nothing.
 */
export async function receiveInbound(
  sql: Sql,
  gatewayId: number,
  written: InboundMessage,
  stopWords: readonly string[] = STOP_WORDS,
  numbering?: Pick<Numbering, 'lookup'>,
): Promise<InboundOutcome> {
  const message = readable(written)
  const { to, text } = message
  const chat = chatOf(message)
  const from = chat === undefined ? normaliseNumber(message.from) : await numberOfChat(sql, gatewayId, chat)
  return within(sql, async tx => {
    const isStop = isStopWord(text, stopWords)
    const kept =
      from === undefined ? undefined : await storeInbound(tx, gatewayId, { ...message, from }, isStop, numbering)
    const isNewStop = isStop && (await isFirstTime(tx, gatewayId, message))
    const stopped = isNewStop ? await stopAll(tx, gatewayId, { from, chat, to }) : undefined
    if (from === undefined && !stopped?.length) return { kind: 'unknown subscriber' }
    if (!stopped) return kept ?? { kind: 'ignored' }
    return { kind: 'stopped', companyIds: stopped, ...(kept?.kind === 'kept' ? { messageUuid: kept.messageUuid } : {}) }
  })
}

/** A repeated webhook must not put a number back on the blacklist after staff removed it. */
async function isFirstTime(sql: Transaction, gatewayId: number, { providerId }: InboundMessage): Promise<boolean> {
  if (!providerId) return true
  return (await store.insertStop(sql, gatewayId, providerId)).count > 0
}

/** Messengers repeat a webhook for some days; WhatsApp for seven days. */
const STOPS_KEPT_MS = 30 * 24 * 3600_000

export const forgetOldStops = (sql: Sql, now: Date) =>
  store.deleteOldStops(sql, new Date(now.getTime() - STOPS_KEPT_MS))

async function stopAll(sql: Transaction, gatewayId: number, stop: Omit<Stop, 'isOwned'>): Promise<number[]> {
  const gateway = await findGateway(sql, gatewayId)
  return addStop(sql, gatewayId, { ...stop, isOwned: gateway !== undefined && ownsName(gateway, stop.to) })
}

/**
 * Removes characters that the database cannot store. If we refused them, the provider would repeat the message for
 * ever.
 */
function readable({ from, to, text, providerId, receivedAt }: InboundMessage): InboundMessage {
  const clean = (value: string) => value.replaceAll('\0', '').toWellFormed()
  return {
    from: clean(from),
    to: clean(to),
    text: clean(text),
    receivedAt,
    ...(providerId === undefined ? {} : { providerId: clean(providerId) }),
  }
}

const CHAT = 'chat:'

const chatOf = ({ from }: InboundMessage) => (from.startsWith(CHAT) ? from.slice(CHAT.length) : undefined)

/** A webhook passes its transaction, which records all its messages. A connection passes a pool. */
const within = (sql: Sql, work: (sql: Transaction) => Promise<InboundOutcome>): Promise<InboundOutcome> =>
  'begin' in sql ? sql.begin(work) : work(sql)

// Storing a message -------------------------------------------------------------------------------------------------

/** Stores a message for its company. Undefined if no company matches. */
async function storeInbound(
  sql: Transaction,
  gatewayId: number,
  { from, to, text, receivedAt, providerId }: InboundMessage,
  isStop: boolean,
  numbering: Pick<Numbering, 'lookup'> | undefined,
): Promise<Stored | undefined> {
  const message = { senderName: to, destination: from, text, receivedAt, providerId: providerId || null }
  const owner = await ownerOf(sql, gatewayId, message)
  if (!owner) return undefined
  const { companyId, channelType, currency } = owner
  const { rule, centerId } = await placeOf(sql, companyId, channelType, to)
  const [clock] = await store.selectNow(sql)
  const belongs = { companyId, channelType, centerId, ruleId: rule?.ruleId ?? null }
  const kept = { ...message, ...belongs, isStop, uuid: uuid7(clock!.now) }
  const [inserted] = await store.insertInbound(sql, gatewayId, kept)
  if (!inserted) return { kind: 'repeated', companyId }
  if (rule?.callbackUrl)
    await enqueueInboundEvent(sql, rule.callbackUrl, kept, inboundItem(kept, currency, numbering), clock!.now)
  return { kind: 'kept', companyId, messageUuid: kept.uuid }
}

/** The rule for messages to a name, if one matches, and the traffic center. */
async function placeOf(sql: Sql, companyId: number, channelType: InboundChannel, senderName: string) {
  const rule = ruleFor(await store.selectRules(sql, companyId, channelType), senderName)
  return { rule, centerId: rule?.centerId ?? (await defaultCenter(sql, companyId)).centerId }
}

async function ownerOf(sql: Sql, gatewayId: number, message: store.NewInbound): Promise<store.Owner | undefined> {
  const [gateway] = await store.selectChannel(sql, gatewayId)
  if (!gateway) return undefined
  const owners = await store.selectOwners(sql, gateway.channelType, message.senderName)
  if (owners.length < 2) return owners[0]
  const claims = (await Promise.all(owners.map(owner => store.selectClaim(sql, owner, gatewayId, message)))).flat()
  const [chosen] = claims.sort(byClaim)
  return owners.find(({ companyId }) => companyId === chosen?.companyId)
}

type Claim = { companyId: number; hasMessage: boolean; lastSentAt: Date | null }

/**
 * Several companies have the same name. First comes the company that has the message already, because a gateway may
 * repeat it; then the company that last sent to this subscriber under this name; then the oldest company.
 */
const byClaim = (a: Claim, b: Claim) =>
  Number(b.hasMessage) - Number(a.hasMessage) ||
  (b.lastSentAt?.getTime() ?? 0) - (a.lastSentAt?.getTime() ?? 0) ||
  a.companyId - b.companyId

async function enqueueInboundEvent(
  sql: Transaction,
  url: string,
  { companyId, uuid, channelType, receivedAt }: store.StoredInbound,
  item: ReturnType<typeof inboundItem>,
  now: Date,
) {
  const event = { kind: 'inbound' as const, messageUuid: uuid, channelType, item, at: receivedAt }
  await enqueueMessagingCallbacks(sql, companyId, [{ url, event }], now)
}

// Trying a message ----------------------------------------------------------------------------------------------------

/**
 * Why a message would not be stored: by its channel, the `inbound` switch of the company, or a name that is not
 * approved.
 */
export type RejectionCause = 'channel' | 'switch' | 'name'

export type InboundTrial = {
  hindrance: RejectionCause | null
  /** The message would put its subscriber on the blacklist, stored or not. */
  isStop: boolean
  /** The rule and center of the message. Null for a channel without inbound messages. */
  place: { ruleId: number | null; centerId: number; callbackUrl: string | null } | null
  /** All rules of the company, in the order in which they are tried. */
  rules: { ruleId: number; verdict: RuleMatch }[]
}

type Trial = { channelType: ChannelType; senderName: string; text: string }

/** Shows how an inbound message to this company would be treated. Stores nothing and creates no callbacks. */
export async function tryInbound(
  sql: Sql,
  { companyId, inbound }: Pick<Company, 'companyId' | 'inbound'>,
  trial: Trial,
  stopWords: readonly string[] = STOP_WORDS,
): Promise<InboundTrial> {
  const { channelType, senderName, text } = trial
  const place = isInboundChannel(channelType) ? await placeOf(sql, companyId, channelType, senderName) : undefined
  const rules = inOrder(await store.listRules(sql, companyId))
  const isApproved = (await store.selectIsApproved(sql, companyId, channelType, senderName)).length > 0
  return {
    hindrance: !place ? 'channel' : !inbound ? 'switch' : !isApproved ? 'name' : null,
    isStop: isStopWord(text, stopWords),
    place: place
      ? { ruleId: place.rule?.ruleId ?? null, centerId: place.centerId, callbackUrl: place.rule?.callbackUrl ?? null }
      : null,
    rules: rules.map(rule => ({ ruleId: rule.ruleId, verdict: matchOfRule(rule, place?.rule, trial) })),
  }
}

// Recent messages -----------------------------------------------------------------------------------------------------

/**
 * The subscribers that wrote to the company under this name since a time. A messenger allows free texts as answers to
 * them.
 */
export async function subscribersThatWrote(
  sql: Sql,
  companyId: number,
  senderName: string,
  destinations: string[],
  since: Date,
): Promise<Set<string>> {
  if (destinations.length === 0) return new Set()
  const rows = await store.selectSubscribersThatWrote(sql, companyId, senderName, destinations, since)
  return new Set(rows.map(({ destination }) => destination))
}

export const removeInboundTexts = store.deleteTexts
