import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { UsageError } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone-number.ts'
import { isSameNumber } from '../../base/same-number.ts'
import { smsParts } from '../../base/sms-text.ts'
import { uuid7 } from '../../base/uuid7.ts'
import { entryOf } from '../../channels/catalogue.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import { couldName } from '../../channels/smpp/receipts/message-ids.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { gatewayKey, openSettings } from '../../domain/gateways/secrets.ts'
import { takeInbound } from '../../domain/inbound/inbound.ts'
import { keepReceipts } from '../../domain/receipts/receipts.ts'
import { chatsOf } from '../../domain/subscribers/subscribers.ts'
import { connectOnce } from './connectors.ts'
import { byProviderId } from './feed.ts'

const CONNECT_MS = 10_000
const LOOK_EVERY_MS = 20

/** A message to send, and how long to wait for its receipts. */
export type Trial = { to: string; sender: string; text: string; waitMs: number; stopWords: readonly string[] }

/**
 * Sends one message through a gateway over a connection of our own. Nothing is billed or stored of it; what the
 * operator tells us of other messages meanwhile goes where it belongs.
 */
export async function tryGateway({ sql, secret }: { sql: Pool; secret: string }, gateway: Gateway, trial: Trial) {
  const message = await messageOf(sql, gateway, trial)
  const { feed, submitted, receipts } = listen(sql, gateway, message, trial.stopWords)
  const channel = connect(sql, gateway, secret, feed)
  try {
    await untilUp(gateway, channel)
    const result = await submit(channel, message)
    submitted(result)
    if (result?.kind === 'accepted' && !result.delivered && !entryOf(gateway.connector).hasWebhook) {
      const expected = result.providerIds?.length ?? 1
      await within(trial.waitMs, () => receipts.length >= expected)
    }
    return { result, receipts }
  } finally {
    submitted(undefined)
    await channel.stop()
  }
}

/** To a number, or straight to the address of a subscriber where a channel has those. */
async function messageOf(sql: Sql, gateway: Gateway, { to, sender, text }: Trial): Promise<Outgoing> {
  const number = normaliseNumber(to)
  if (number === undefined && !['telegram', 'push'].includes(gateway.connector)) {
    throw new UsageError(`--to must be a phone number, not "${to}".`)
  }
  const addresses = number === undefined ? [to.replace(/^chat:/, '')] : await chatsOf(sql, gateway.gatewayId, number)
  return {
    companyId: 0,
    uuid: uuid7(new Date()),
    channelType: gateway.channelType,
    senderName: sender,
    destination: number ?? '',
    text,
    parts: gateway.channelType === 'SMS' ? smsParts(text) : 1,
    attempts: 0,
    ...(addresses.length > 0 ? { addresses } : {}),
  }
}

/** What comes in waits until it is known which of it is ours. */
function listen(sql: Sql, { gatewayId }: Gateway, message: Outgoing, stopWords: readonly string[]) {
  const outcome = Promise.withResolvers<SendResult | undefined>()
  const receipts: Receipt[] = []

  const isOurs = ({ of, subscriber }: Receipt, result: SendResult | undefined) => {
    if ('uuid' in of) return of.uuid === message.uuid
    const ids = result?.kind === 'accepted' ? (result.providerIds ?? []) : []
    if (!of.isUnread) return ids.includes(of.providerId)
    return isSameNumber(subscriber, message.destination) && ids.some(id => couldName(of.providerId, id))
  }

  /** What could be ours and could be another's is shown, and kept for the other as well. */
  const isKept = (receipt: Receipt, result: SendResult | undefined) =>
    'providerId' in receipt.of && (receipt.of.isUnread || !isOurs(receipt, result))

  const feed: Feed = {
    async receipts(batch) {
      const result = await outcome.promise
      receipts.push(...batch.filter(receipt => isOurs(receipt, result)))
      const others = batch.filter(receipt => isKept(receipt, result))
      if (others.length > 0) await keepReceipts(sql, gatewayId, others.map(byProviderId))
    },
    async inbound(inbound) {
      await takeInbound(sql, gatewayId, inbound, stopWords)
    },
    async gone() {},
  }
  return { feed, receipts, submitted: outcome.resolve }
}

/** Without a log: what goes wrong is told as the outcome. */
function connect(sql: Pool, gateway: Gateway, secret: string, feed: Feed): Channel {
  try {
    const context = { sql, log: pino({ level: 'silent' }) }
    return connectOnce(context, { ...gateway, settings: openSettings(gateway, gatewayKey(secret)) }, feed)
  } catch (error) {
    throw new UsageError(`Gateway ${gateway.name} cannot be connected: ${(error as Error).message}.`)
  }
}

async function untilUp({ name, connector }: Gateway, channel: Channel) {
  await within(CONNECT_MS, () => channel.health().up || channel.health().lastError !== undefined)
  if (channel.health().up) return
  const reason = channel.health().lastError ?? 'no answer'
  const contract =
    connector === 'smpp'
      ? ' The engines may hold every connection that the operator allows: pause the gateway then.'
      : ''
  throw new UsageError(`Gateway ${name} could not be reached: ${reason}.${contract}`)
}

async function within(patienceMs: number, condition: () => boolean): Promise<boolean> {
  const until = performance.now() + patienceMs
  while (!condition() && performance.now() < until) await pause(LOOK_EVERY_MS)
  return condition()
}

async function submit(channel: Channel, message: Outgoing): Promise<SendResult | undefined> {
  let result: SendResult | undefined
  await channel.submit(
    [message],
    (_, reported) => {
      result = reported
    },
    () => true,
  )
  return result
}

export type TrialOutcome = Awaited<ReturnType<typeof tryGateway>>
