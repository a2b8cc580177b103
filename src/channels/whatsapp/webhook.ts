import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { plainWords, readId } from '../../base/plain-words.ts'
import type { Inbound, Receipt } from '../channel.ts'
import { objectOf } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import { type ReadWebhook, readOwnId, type ToldReceipt, type WebhookRequest, type WebhookResult } from '../webhook.ts'
import { errorCodeOf } from './answer.ts'
import { readSettings, type WhatsappSettings } from './settings.ts'

/** What Meta tells about our number: what became of messages, and what subscribers wrote. */
export const readWebhook: ReadWebhook = (raw, request, now) => {
  const settings = settingsOf(raw)
  if (settings instanceof Error) return { kind: 'forged', reason: settings.message } // nothing to check it against
  return request.method === 'GET' ? answerSubscription(settings, request) : readNotice(settings, request, now)
}

function settingsOf(raw: RawSettings): WhatsappSettings | Error {
  try {
    return readSettings(raw)
  } catch (error) {
    return error as Error
  }
}

/** Meta asks once, when our address is entered in its console. */
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

/** What is about our number: an application may have several, with a gateway each, and all are told to all. */
function valuesIn(notice: Notice, phoneNumberId: string): Notice[] {
  return objectsIn(notice.entry)
    .flatMap(entry => objectsIn(entry.changes))
    .filter(change => change.field === 'messages')
    .map(change => objectIn(change.value))
    .filter(value => objectIn(value.metadata).phone_number_id === phoneNumberId)
}

/**
 * A message that is read was delivered, and when both happen at once Meta tells of the reading alone: so a reading
 * tells of both. That it was sent is known from the answer to our call.
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
 * A subscriber who hides the number behind a user name comes without one; there is nobody to note it for. A reaction
 * is a mark on a message and `system` is Meta's own remark: neither is written to us.
 */
function inboundOf(message: Notice, to: string, now: Date): Inbound[] {
  const from = digitsIn(message.from)
  if (!from || message.type === 'reaction' || message.type === 'system') return []
  const providerId = idIn(message.id)
  const receivedAt = timeIn(message.timestamp, now)
  // Meta writes every number with its country code and without the plus.
  return [{ from: `+${from}`, to, text: wordsIn(message), receivedAt, ...(providerId ? { providerId } : {}) }]
}

/** The words in it. A voice message, a place, a picture without a caption have none, and still are messages. */
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

// Reading what may be anything --------------------------------------------------------------------------------------

type Notice = Record<string, unknown>

const objectIn = (value: unknown): Notice =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Notice) : {}

const objectsIn = (value: unknown): Notice[] => (Array.isArray(value) ? value.map(objectIn) : [])

/** Without NULs: the database could not keep them, and the notice would be told again and again. */
const textIn = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\0', '') : '')

const idIn = (value: unknown) => (typeof value === 'string' ? readId(value) : undefined)

const digitsIn = (value: unknown): string => textIn(value).replace(/\D/g, '')

/** Seconds since 1970, as text; what is no such thing, or lies ahead, happened when we heard of it. */
function timeIn(value: unknown, now: Date): Date {
  const isSeconds = (typeof value === 'string' || typeof value === 'number') && /^\d{1,10}$/.test(String(value))
  return isSeconds ? new Date(Math.min(Number(value) * 1000, now.getTime())) : now
}
