import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { smsParts } from '../../base/content/sms-text.ts'
import { UsageError } from '../../base/errors.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { isSameNumber } from '../../base/phone/same-number.ts'
import { uuid7 } from '../../base/uuid7.ts'
import { entryOf } from '../../channels/catalogue.ts'
import type { Channel, Feed, Inbound, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import { couldName } from '../../channels/smpp/receipts/message-ids.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { Gateway } from '../../domain/gateways/gateway.ts'
import { gatewayKey, openSettings } from '../../domain/gateways/secrets.ts'
import { receiveInbound } from '../../domain/inbound/inbound.ts'
import { addToReceiptInbox } from '../../domain/receipts/receipts.ts'
import { chatsOf } from '../../domain/subscribers/subscribers.ts'
import { connectOnce } from './connectors.ts'
import { byProviderId } from './feed.ts'

const CONNECT_MS = 10_000
const POLL_MS = 20

/** A message to send, and how long to wait for its receipts. */
export type Trial = { to: string; sender: string; text: string; waitMs: number; stopWords: readonly string[] }

/**
 * Sends one message through a gateway, over its own connection. The message is not charged or stored. Receipts of other
 * messages that the operator sends to this connection are stored for the engines.
 */
export async function tryGateway({ sql, secret }: { sql: Pool; secret: string }, gateway: Gateway, trial: Trial) {
  const message = await messageOf(sql, gateway, trial)
  const feed = new TrialFeed(sql, gateway, message, trial.stopWords)
  const receipts = feed.receiptsOfTrial
  const channel = connect(sql, gateway, secret, feed)
  try {
    await untilUp(gateway, channel)
    const result = await submit(channel, message)
    feed.submitted(result)
    if (result?.kind === 'accepted' && !result.delivered && !entryOf(gateway.connector).hasWebhook) {
      const expected = result.providerIds?.length ?? 1
      await within(trial.waitMs, () => receipts.length >= expected)
    }
    return { result, receipts }
  } finally {
    feed.submitted(undefined)
    await channel.stop()
  }
}

/** The message to a number. In Telegram and push, `to` may also be the address of a subscriber. */
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

/** Collects the receipts of the trial message. Receipts wait until the result of the message is known. */
class TrialFeed implements Feed {
  readonly receiptsOfTrial: Receipt[] = []
  readonly #sql: Sql
  readonly #gatewayId: number
  readonly #message: Outgoing
  readonly #stopWords: readonly string[]
  readonly #result = Promise.withResolvers<SendResult | undefined>()

  constructor(sql: Sql, { gatewayId }: Gateway, message: Outgoing, stopWords: readonly string[]) {
    this.#sql = sql
    this.#gatewayId = gatewayId
    this.#message = message
    this.#stopWords = stopWords
  }

  submitted(result: SendResult | undefined): void {
    this.#result.resolve(result)
  }

  async receipts(batch: Receipt[]): Promise<void> {
    const result = await this.#result.promise
    this.receiptsOfTrial.push(...batch.filter(receipt => this.#isOfTrial(receipt, result)))
    const others = batch.filter(receipt => this.#isKept(receipt, result))
    if (others.length > 0) await addToReceiptInbox(this.#sql, this.#gatewayId, others.map(byProviderId))
  }

  async inbound(inbound: Inbound): Promise<void> {
    await receiveInbound(this.#sql, this.#gatewayId, inbound, this.#stopWords)
  }

  async gone(): Promise<void> {}

  #isOfTrial({ of, subscriber }: Receipt, result: SendResult | undefined): boolean {
    if ('uuid' in of) return of.uuid === this.#message.uuid
    const ids = result?.kind === 'accepted' ? (result.providerIds ?? []) : []
    if (!of.isUnread) return ids.includes(of.providerId)
    return isSameNumber(subscriber, this.#message.destination) && ids.some(id => couldName(of.providerId, id))
  }

  /** A receipt that may belong to the trial or to another message is shown, and also stored for the other message. */
  #isKept(receipt: Receipt, result: SendResult | undefined): boolean {
    return 'providerId' in receipt.of && (receipt.of.isUnread === true || !this.#isOfTrial(receipt, result))
  }
}

/** Connects without a log, because the result of the trial contains every error. */
function connect(sql: Pool, gateway: Gateway, secret: string, feed: Feed): Channel {
  try {
    const context = { sql, log: pino({ level: 'silent' }) }
    return connectOnce(context, { ...gateway, settings: openSettings(gateway, gatewayKey(secret)) }, feed)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`Gateway ${gateway.name} cannot be connected: ${reason}.`)
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
  while (!condition() && performance.now() < until) await pause(POLL_MS)
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
