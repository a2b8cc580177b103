import { readId } from '../../base/content/plain-words.ts'
import { readTimestamp } from '../../base/time/timestamp.ts'
import type { Inbound, Receipt } from '../channel.ts'
import { objectOf } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import type { ReadWebhook, WebhookResult } from '../webhook.ts'
import { failureCodeOf, readError } from './failures.ts'
import { readKey } from './settings.ts'
import { forgeryOf } from './signature.ts'

/** The most events, and the most messages of subscribers, in one request. */
const MOST_AT_ONCE = 1000
const MOST_ADDRESS_CHARS = 100
const MOST_TEXT_CHARS = 10_000

/** Reads the status changes of messages and the messages of subscribers. */
export const readWebhook: ReadWebhook = (settings, { method, headers, body }, now) => {
  const key = keyOf(settings)
  if (!key) return { kind: 'forged', reason: 'the gateway has no secret to check it with' }
  const forgery = forgeryOf(key, headers, body, now)
  if (forgery) return { kind: 'forged', reason: forgery }
  return method === 'POST' ? readBody(body.toString('utf8'), now) : unreadable('it is no POST')
}

function keyOf(settings: RawSettings): Buffer | undefined {
  try {
    return readKey(settings)
  } catch {
    return undefined
  }
}

function readBody(body: string, now: Date): WebhookResult {
  const { events, inbound } = objectOf(body)
  if (events === undefined && inbound === undefined) return unreadable('it has neither events nor inbound')
  const receipts = readAll(events ?? [], event => readEvent(event, now))
  if (!receipts) return unreadable('its events cannot be read')
  const messages = readAll(inbound ?? [], message => readInbound(message, now))
  if (!messages) return unreadable('its inbound messages cannot be read')
  return { kind: 'told', receipts, inbound: messages, chats: [] }
}

const unreadable = (reason: string): WebhookResult => ({ kind: 'unreadable', reason })

/** All items, without skipped items; undefined if one item cannot be read. */
function readAll<T>(list: unknown, read: (one: Record<string, unknown>) => T | 'skip' | undefined): T[] | undefined {
  if (!Array.isArray(list) || list.length > MOST_AT_ONCE) return undefined
  const all: T[] = []
  for (const one of list) {
    if (typeof one !== 'object' || one === null) return undefined
    const value = read(one)
    if (value === undefined) return undefined
    if (value !== 'skip') all.push(value)
  }
  return all
}

const statuses = new Map<unknown, Receipt['status']>([
  ['delivered', 'DELIVERED'],
  ['failed', 'FAILED'],
  ['read', 'READ'],
])

/** An event of an unknown kind is skipped: a provider may have more stages than we do. */
function readEvent(event: Record<string, unknown>, now: Date): Receipt | 'skip' | undefined {
  const providerId = readId(event.id)
  const happenedAt = readTime(event.at, now)
  if (!providerId || !happenedAt || typeof event.status !== 'string') return undefined
  const status = statuses.get(event.status)
  if (!status) return 'skip'
  return { of: { providerId }, status, happenedAt, ...(status === 'FAILED' ? failureOf(event.error) : {}) }
}

function failureOf(error: unknown): Pick<Receipt, 'errorCode' | 'operatorError'> {
  const { code } = readError(error)
  return { errorCode: failureCodeOf(code), ...(code === undefined ? {} : { operatorError: code }) }
}

function readInbound(message: Record<string, unknown>, now: Date): Inbound | undefined {
  const providerId = readId(message.id)
  const receivedAt = readTime(message.at, now)
  const [from, to] = [readAddress(message.from), readAddress(message.to)]
  if (!providerId || !receivedAt || !from || !to || typeof message.text !== 'string') return undefined
  const text = message.text.replaceAll('\0', '').slice(0, MOST_TEXT_CHARS).toWellFormed()
  return { from, to: to.replace(/^\+(?=\d+$)/, ''), text, receivedAt, providerId }
}

/** A number or a name. A plus before a number distinguishes foreign numbers from Russian ones. */
function readAddress(value: unknown): string | undefined {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return undefined
  const address = value.trim().toWellFormed()
  return address !== '' && address.length <= MOST_ADDRESS_CHARS ? address : undefined
}

/** The time of the event; now if it is absent or in the future, because the clock of the provider may be wrong. */
function readTime(at: unknown, now: Date): Date | undefined {
  if (at === undefined || at === null) return now
  const time = typeof at === 'string' ? readTimestamp(at)?.time : undefined
  return time && time > now ? now : time
}
