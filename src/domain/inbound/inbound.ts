import { normaliseNumber } from '../../base/phone-number.ts'
import { uuid7 } from '../../base/uuid7.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { addStop, isStopWord, STOP_WORDS, type Stop } from '../blacklist/blacklist.ts'
import { enqueueMessagingCallbacks } from '../callbacks/callbacks.ts'
import { findGateway } from '../gateways/gateways.ts'
import { ownsName } from '../gateways/name-owners.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { numberOfChat } from '../subscribers/subscribers.ts'
import { defaultCenter } from '../traffic-centers/traffic-centers.ts'
import { inboundItem } from './item.ts'
import { ruleFor } from './rule.ts'
import * as store from './store.ts'

/** What a subscriber wrote. `from` is a number, or `chat:` and the address of a chat whose number is looked up here. */
export type InboundMessage = { from: string; to: string; text: string; receivedAt: Date; providerId?: string }

/**
 * What became of it: nobody heard it, its writer is not known by number, it was kept for a company, the gateway had told
 * of it before, or it was a wish for nothing more, which may be kept as well.
 */
export type InboundOutcome =
  | { kind: 'ignored' }
  | { kind: 'unknown subscriber' }
  | Kept
  | { kind: 'stopped'; companyIds: number[]; messageUuid?: string }

type Kept = { kind: 'kept'; companyId: number; messageUuid: string } | { kind: 'repeated'; companyId: number }

/**
 * Takes what came in through a gateway, over its connection or by webhook, in one transaction: keeps it for the company
 * it was written to, tells whoever its rule says, and hears the wish for nothing more. Done again with the same
 * `providerId`, it changes nothing.
 */
export async function takeInbound(
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
    const kept = from === undefined ? undefined : await keep(tx, gatewayId, { ...message, from }, numbering)
    const isStop = isStopWord(text, stopWords) && (await isFirstTime(tx, gatewayId, message))
    const stopped = isStop ? await stopAll(tx, gatewayId, { from, chat, to }) : undefined
    if (from === undefined && !stopped?.length) return { kind: 'unknown subscriber' }
    if (!stopped) return kept ?? { kind: 'ignored' }
    return { kind: 'stopped', companyIds: stopped, ...(kept?.kind === 'kept' ? { messageUuid: kept.messageUuid } : {}) }
  })
}

/** A webhook that is delivered again must not undo what staff did since: a number was taken off the blacklist. */
async function isFirstTime(sql: Transaction, gatewayId: number, { providerId }: InboundMessage): Promise<boolean> {
  if (!providerId) return true
  return (await store.insertStop(sql, gatewayId, providerId)).count > 0
}

/** Messengers repeat a webhook for some days; WhatsApp for seven. */
const STOPS_KEPT_MS = 30 * 24 * 3600_000

export const forgetOldStops = (sql: Sql, now: Date) =>
  store.deleteOldStops(sql, new Date(now.getTime() - STOPS_KEPT_MS))

async function stopAll(sql: Transaction, gatewayId: number, stop: Omit<Stop, 'isOwned'>): Promise<number[]> {
  const gateway = await findGateway(sql, gatewayId)
  return addStop(sql, gatewayId, { ...stop, isOwned: gateway !== undefined && ownsName(gateway, stop.to) })
}

/** What the database cannot keep is left out: a provider that is refused for it would come again for ever. */
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

/** A webhook has a transaction for everything it tells; a connection brings a pool. */
const within = (sql: Sql, work: (sql: Transaction) => Promise<InboundOutcome>): Promise<InboundOutcome> =>
  'begin' in sql ? (sql.begin(work) as Promise<InboundOutcome>) : work(sql)

// Keeping it --------------------------------------------------------------------------------------------------------

/** Nothing when there is no company to keep it for. */
async function keep(
  sql: Transaction,
  gatewayId: number,
  { from, to, text, receivedAt, providerId }: InboundMessage,
  numbering: Pick<Numbering, 'lookup'> | undefined,
): Promise<Kept | undefined> {
  const message = { senderName: to, destination: from, text, receivedAt, providerId: providerId || null }
  const owner = await ownerOf(sql, gatewayId, message)
  if (!owner) return undefined
  const { companyId, channelType, currency } = owner
  const rule = ruleFor(await store.selectRules(sql, companyId, channelType), to)
  const centerId = rule?.centerId ?? (await defaultCenter(sql, companyId)).centerId

  const [clock] = await store.selectNow(sql)
  const kept = { ...message, companyId, channelType, centerId, uuid: uuid7(clock!.now) }
  const [inserted] = await store.insertInbound(sql, gatewayId, kept)
  if (!inserted) return { kind: 'repeated', companyId }
  if (rule?.callbackUrl) await tell(sql, rule.callbackUrl, kept, inboundItem(kept, currency, numbering), clock!.now)
  return { kind: 'kept', companyId, messageUuid: kept.uuid }
}

async function ownerOf(sql: Sql, gatewayId: number, message: store.NewInbound): Promise<store.Owner | undefined> {
  const owners = await store.selectOwners(sql, gatewayId, message.senderName)
  if (owners.length < 2) return owners[0]
  const [chosen] = await store.selectOwner(sql, owners, gatewayId, message)
  return owners.find(({ companyId }) => companyId === chosen!.companyId)
}

async function tell(
  sql: Transaction,
  url: string,
  { companyId, uuid, channelType, receivedAt }: store.KeptInbound,
  item: ReturnType<typeof inboundItem>,
  now: Date,
) {
  const event = { kind: 'inbound' as const, messageUuid: uuid, channelType, item, at: receivedAt }
  await enqueueMessagingCallbacks(sql, companyId, [{ url, events: [event] }], now)
}

// What it is good for afterwards --------------------------------------------------------------------------------------

/** Which of these subscribers wrote to the company under this name since then: a messenger lets them be answered freely. */
export async function heardWithin(
  sql: Sql,
  companyId: number,
  senderName: string,
  destinations: string[],
  since: Date,
): Promise<Set<string>> {
  if (destinations.length === 0) return new Set()
  const rows = await store.selectHeard(sql, companyId, senderName, destinations, since)
  return new Set(rows.map(({ destination }) => destination))
}
