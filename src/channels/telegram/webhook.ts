import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readId } from '../../base/content/plain-words.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import type { Inbound } from '../channel.ts'
import { objectOf } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import { type ChatChange, type ReadWebhook, readOwnId, type ToldReceipt, type WebhookResult } from '../webhook.ts'
import { readBotSettings, readGatewaySettings } from './settings.ts'

type Fields = Record<string, unknown>

/** An older report, or a report from the future, could be an old request that an attacker sends again. */
const FRESH_MS = 5 * 60_000

const forged = (reason: string): WebhookResult => ({ kind: 'forged', reason })
const unreadable = (reason: string): WebhookResult => ({ kind: 'unreadable', reason })
const told = (what: { receipts?: ToldReceipt[]; inbound?: Inbound[]; chats?: ChatChange[] }): WebhookResult => ({
  kind: 'told',
  receipts: [],
  inbound: [],
  chats: [],
  ...what,
})

// The bot ---------------------------------------------------------------------------------------------------------

/** An update of the Bot API. Updates of other kinds are acknowledged without effect, so that Telegram does not repeat them. */
export const readWebhook: ReadWebhook = (raw, { headers, body }, now) => {
  const settings = readable(readBotSettings, raw)
  if (!settings?.webhookSecret) return forged('the gateway has no secret to know Telegram by')
  if (!isSame(headers['x-telegram-bot-api-secret-token'], settings.webhookSecret)) return forged('the secret is wrong')
  const update = objectOf(body.toString('utf8'))
  if (!Number.isSafeInteger(update.update_id)) return unreadable('no update of the Bot API')
  if (isFields(update.message)) return told(readMessage(update.message, settings.botName, now))
  if (isFields(update.my_chat_member)) return told(readMembership(update.my_chat_member))
  return told({})
}

/**
 * A message of a subscriber. Telegram does not send the number: `from` is the chat with the prefix `chat:`, and the domain
 * looks up the number when it stores the message.
 */
function readMessage(message: Fields, botName: string, now: Date): { inbound?: Inbound[]; chats?: ChatChange[] } {
  const address = privateChatOf(message)
  if (address === undefined) return {}
  if (isFields(message.contact)) return { chats: readContact(message.contact, message.from, address) }
  if (typeof message.text !== 'string') return {}
  if (/^\/start(@\w+)?(\s|$)/.test(message.text)) return { chats: [{ address, gone: false }] }
  const inbound: Inbound = {
    from: `chat:${address}`,
    to: botName,
    text: message.text.replaceAll('\0', ''),
    receivedAt: instantOf(message.date, now),
    ...(Number.isSafeInteger(message.message_id) ? { providerId: `${address}:${message.message_id}` } : {}),
  }
  return { inbound: [inbound] }
}

/** A subscriber can send the contact of another person: only their own contact proves the number. */
function readContact(contact: Fields, from: unknown, address: string): ChatChange[] {
  const isOwn = isFields(from) && Number.isSafeInteger(from.id) && contact.user_id === from.id
  if (!isOwn || typeof contact.phone_number !== 'string') return []
  // The number has its country code, with or without the plus.
  const destination = normaliseNumber(`+${contact.phone_number.replace(/^\+/, '')}`)
  return destination === undefined ? [] : [{ address, destination, gone: false }]
}

/** A subscriber has blocked or unblocked the bot. */
function readMembership(change: Fields): { chats?: ChatChange[] } {
  const address = privateChatOf(change)
  const status = isFields(change.new_chat_member) ? change.new_chat_member.status : undefined
  if (address === undefined) return {}
  if (status === 'kicked' || status === 'left') return { chats: [{ address, gone: true }] }
  return status === 'member' ? { chats: [{ address, gone: false }] } : {}
}

/** Groups are ignored: all members would read a message for one number. */
function privateChatOf({ chat }: Fields): string | undefined {
  if (!isFields(chat) || chat.type !== 'private') return undefined
  return Number.isSafeInteger(chat.id) && Number(chat.id) > 0 ? String(chat.id) : undefined
}

// The Gateway API -------------------------------------------------------------------------------------------------

/** A receipt of the Gateway API. Whether the subscriber entered the right code is not read. */
export const readGatewayWebhook: ReadWebhook = (raw, { headers, body }, now) => {
  const settings = readable(readGatewaySettings, raw)
  if (!settings) return forged('the gateway has no token to know Telegram by')
  const timestamp = headers['x-request-timestamp'] ?? ''
  if (!isSame(headers['x-request-signature'], signatureOf(settings.token, timestamp, body))) {
    return forged('the signature is wrong')
  }
  if (!isFresh(timestamp, now)) return forged('the report is too old')
  return readReport(objectOf(body.toString('utf8')), now)
}

const signatureOf = (token: string, timestamp: string, body: Buffer) =>
  createHmac('sha256', createHash('sha256').update(token).digest()).update(`${timestamp}\n`).update(body).digest('hex')

const isFresh = (timestamp: string, now: Date) =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() - Number(timestamp) * 1000) <= FRESH_MS

function readReport({ request_id: requestId, delivery_status: delivery, payload }: Fields, now: Date): WebhookResult {
  const providerId = typeof requestId === 'string' ? readId(requestId) : undefined
  if (!providerId) return unreadable('no report of the Gateway API')
  if (!isFields(delivery)) return told({})
  const of = { of: { providerId }, happenedAt: instantOf(delivery.updated_at, now), ...readOwnId(payload) }
  switch (delivery.status) {
    case 'delivered':
      return told({ receipts: [{ ...of, status: 'DELIVERED' }] })
    case 'read': // the report of the delivery may have been lost
      return told({
        receipts: [
          { ...of, status: 'DELIVERED' },
          { ...of, status: 'READ' },
        ],
      })
    case 'expired':
      return told({ receipts: [failed(of, errorCodes.lifetimeOver, 'expired')] })
    case 'revoked':
      return told({ receipts: [failed(of, errorCodes.undelivered, 'revoked')] })
    default: // `sent` is not final
      return told({})
  }
}

const failed = (
  of: Pick<ToldReceipt, 'of' | 'happenedAt' | 'ownId'>,
  errorCode: number,
  operatorError: string,
): ToldReceipt => ({
  ...of,
  status: 'FAILED',
  errorCode,
  operatorError,
})

// Both ------------------------------------------------------------------------------------------------------------

function readable<T>(read: (raw: RawSettings) => T, raw: RawSettings): T | undefined {
  try {
    return read(raw)
  } catch {
    return undefined
  }
}

/** Compares in constant time. */
const isSame = (given: string | undefined, expected: string) =>
  given !== undefined && timingSafeEqual(digestOf(given), digestOf(expected))

const digestOf = (text: string) => createHash('sha256').update(text).digest()

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads seconds since 1970; now if the value is no time or is in the future. */
const instantOf = (seconds: unknown, now: Date) =>
  Number.isSafeInteger(seconds) && Number(seconds) > 0 ? new Date(Math.min(Number(seconds) * 1000, now.getTime())) : now
