import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { plainWords, readId } from '../../base/content/plain-words.ts'
import type { Inbound, Receipt } from '../channel.ts'
import { objectIn, objectOf } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import { type ReadWebhook, readOwnId, type ToldReceipt, type WebhookRequest, type WebhookResult } from '../webhook.ts'
import { errorCodeOf } from './answer.ts'
import { readSettings, type WhatsappSettings } from './settings.ts'

/** Reads the status changes of our messages and the messages of subscribers. */
export const readWebhook: ReadWebhook = (raw, request, now) => {
  const settings = settingsOf(raw)
  if (settings instanceof Error) return { kind: 'forged', reason: settings.message } // no secret to check
  return request.method === 'GET' ? answerSubscription(settings, request) : readNotice(settings, request, now)
}

function settingsOf(raw: RawSettings): WhatsappSettings | Error {
  try {
    return readSettings(raw)
  } catch (error) {
    return error instanceof Error ? error : new Error('the settings cannot be read')
  }
}

/** Meta asks once, when the address of our webhook is entered in its console. */
function answerSubscription({ verifyToken }: WhatsappSettings, { query }: WebhookRequest): WebhookResult {
  if (!isSameSecret(query['hub.verify_token'], verifyToken)) return { kind: 'forged', reason: 'wrong verify token' }
  const challenge = query['hub.challenge']
  if (query['hub.mode'] !== 'subscribe' || !challenge) return { kind: 'unreadable', reason: 'not a subscription' }
  return { kind: 'asked', answer: challenge }
}

const isSameSecret = (given: string | undefined, own: string) =>
  timingSafeEqual(digestOf(`${given ?? ''}`), digestOf(own))
const digestOf = (text: string) => createHash('sha256').update(text).digest()

function readNotice(settings: WhatsappSettings, { headers, body }: WebhookRequest, now: Date): WebhookResult {
  if (!isSigned(headers['x-hub-signature-256'], body, settings.appSecret))
    return { kind: 'forged', reason: 'wrong signature' }
  const notice = objectOf(body.toString('utf8'))
  if (notice.object !== 'whatsapp_business_account') return { kind: 'unreadable', reason: 'not a notice of WhatsApp' }
  const values = valuesIn(notice, settings.phoneNumberId)
  return {
    kind: 'told',
    receipts: values.flatMap(value => objectsIn(value.statuses).flatMap(status => receiptsOf(status, now))),
    inbound: values.flatMap(value => {
      const to = settings.senderName ?? digitsIn(objectIn(value.metadata).display_phone_number)
      return objectsIn(value.messages).flatMap(message => inboundOf(message, to, now))
    }),
    chats: [],
  }
}

function isSigned(header: string | undefined, body: Buffer, appSecret: string): boolean {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(`${header ?? ''}`)?.[1]
  if (!hex) return false
  return timingSafeEqual(Buffer.from(hex, 'hex'), createHmac('sha256', appSecret).update(body).digest())
}

/** The changes for our number. An application may have several numbers with a gateway each, and every webhook gets all. */
function valuesIn(notice: Notice, phoneNumberId: string): Notice[] {
  return objectsIn(notice.entry)
    .flatMap(entry => objectsIn(entry.changes))
    .filter(change => change.field === 'messages')
    .map(change => objectIn(change.value))
    .filter(value => objectIn(value.metadata).phone_number_id === phoneNumberId)
}

/**
 * If a message is delivered and read at the same time, Meta reports only the reading. So a reading gives two receipts. The
 * status "sent" is ignored: the answer to our call already says it.
 */
function receiptsOf(status: Notice, now: Date): ToldReceipt[] {
  const providerId = idIn(status.id)
  if (!providerId) return []
  const ownId = readOwnId(status.biz_opaque_callback_data)
  const told = { of: { providerId }, happenedAt: timeIn(status.timestamp, now), ...ownId }
  switch (status.status) {
    case 'delivered':
      return [{ ...told, status: 'DELIVERED' }]
    case 'read':
      return [
        { ...told, status: 'DELIVERED' },
        { ...told, status: 'READ' },
      ]
    case 'failed':
      return [{ ...told, status: 'FAILED', ...failureOf(status) }]
    default:
      return []
  }
}

function failureOf(status: Notice): Pick<Receipt, 'errorCode' | 'operatorError'> {
  const code = objectsIn(status.errors)[0]?.code
  const operatorError = typeof code === 'number' || typeof code === 'string' ? plainWords(String(code)) : undefined
  return { errorCode: errorCodeOf(operatorError), ...(operatorError ? { operatorError } : {}) }
}

/**
 * A message without a number is ignored: subscribers can hide the number behind a user name. Reactions and messages of
 * the type `system` are ignored too, because no subscriber wrote them.
 */
function inboundOf(message: Notice, to: string, now: Date): Inbound[] {
  const from = digitsIn(message.from)
  if (!from || message.type === 'reaction' || message.type === 'system') return []
  const providerId = idIn(message.id)
  const receivedAt = timeIn(message.timestamp, now)
  // Meta sends numbers with their country code and without the plus.
  return [{ from: `+${from}`, to, text: wordsIn(message), receivedAt, ...(providerId ? { providerId } : {}) }]
}

/** The text of a message. A voice message, a place or a picture without a caption has none, and is still a message. */
function wordsIn(message: Notice): string {
  const type = textIn(message.type)
  const part = objectIn(Object.hasOwn(message, type) ? message[type] : undefined)
  switch (type) {
    case 'text':
      return textIn(part.body)
    case 'button':
      return textIn(part.text)
    case 'interactive':
      return textIn(objectIn(part.button_reply).title) || textIn(objectIn(part.list_reply).title)
    default:
      return textIn(part.caption)
  }
}

// Reading unknown values --------------------------------------------------------------------------------------------

type Notice = Record<string, unknown>

const objectsIn = (value: unknown): Notice[] => (Array.isArray(value) ? value.map(objectIn) : [])

/** NULs are removed: the database cannot store them, and Meta would send the webhook again and again. */
const textIn = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\0', '') : '')

const idIn = (value: unknown) => (typeof value === 'string' ? readId(value) : undefined)

const digitsIn = (value: unknown): string => textIn(value).replace(/\D/g, '')

/** Reads seconds since 1970, as text; now if the value is no time or is in the future. */
function timeIn(value: unknown, now: Date): Date {
  const isSeconds = (typeof value === 'string' || typeof value === 'number') && /^\d{1,10}$/.test(String(value))
  return isSeconds ? new Date(Math.min(Number(value) * 1000, now.getTime())) : now
}
