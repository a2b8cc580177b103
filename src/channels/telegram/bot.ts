import type { Content } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { CallingChannel, type Sent } from '../calling-channel.ts'
import type { Feed, Outgoing } from '../channel.ts'
import { type CallResult, call, objectIn, objectOf, retryAfterMs } from '../http-call.ts'
import { createLimits } from '../limits.ts'
import type { RawSettings } from '../settings.ts'
import {
  type Answered,
  foreign,
  inTrouble,
  limited,
  misconfigured,
  quoted,
  refused,
  secondsAsMs,
  unanswered,
} from './answers.ts'
import { readBotSettings } from './settings.ts'

const MOST_CHARACTERS = 4096

/** Private chats have positive ids, groups negative ones, all below 52 bits. */
const chatId = /^-?\d{1,16}$/

/**
 * The errors of the Bot API. They are recognised by their texts, because statuses and error numbers "are subject to
 * change". `isGone`: the chat no longer exists. The chat of a blocked bot is kept, because the subscriber may unblock it.
 */
const refusals: { words: RegExp; errorCode: number; isGone?: boolean }[] = [
  { words: /bot was blocked by the user|bot was kicked/i, errorCode: errorCodes.botBlocked },
  { words: /user is deactivated|chat was deleted/i, errorCode: errorCodes.noTelegramAccount, isGone: true },
  // A bot finds every chat that a subscriber opened with it: a chat that is not found never existed.
  { words: /chat not found|user not found/i, errorCode: errorCodes.botNotStarted, isGone: true },
  { words: /can't initiate conversation|PEER_ID_INVALID/i, errorCode: errorCodes.botNotStarted },
  {
    words:
      /message is too long|message_too_long|text is empty|message_empty|must be non-empty|can't parse|encoded in utf-8/i,
    errorCode: errorCodes.telegramContent,
  },
  { words: /inline keyboard|reply markup|button_\w*invalid|entities_too_long/i, errorCode: errorCodes.telegramContent },
]

/**
 * A Telegram bot. It writes to chats that subscribers have opened; the engine finds the chat of a number. The Bot API
 * sends no receipts, so an accepted message is delivered.
 */
export function createTelegramBot(raw: RawSettings, feed: Feed): CallingChannel {
  const settings = readBotSettings(raw)
  const url = `${settings.baseUrl}/bot${settings.token}/sendMessage`
  const secrets = [settings.token, settings.token.slice(settings.token.indexOf(':') + 1)]
  const limits = createLimits()

  async function send(message: Outgoing): Promise<Sent> {
    return refuseTooLong(message) ?? (await sendToChats(message))
  }

  /** Sends to the first chat that accepts the message. */
  async function sendToChats(message: Outgoing): Promise<Sent> {
    let sent: Sent = {
      kind: 'refused',
      errorCode: errorCodes.botNotStarted,
      reason: 'no chat with the bot is known for the number',
    }
    for (const chat of (message.addresses ?? []).filter(address => chatId.test(address))) {
      sent = await sendToChat(message, chat)
      if (!isClosed(sent)) return sent
    }
    return sent
  }

  async function sendToChat(message: Outgoing, chat: string): Promise<Sent> {
    const called = await post(message, chat)
    const movedTo = movedChatOf(called)
    const sent = movedTo ? read(await post(message, movedTo), movedTo) : read(called, chat)
    if (isGone(sent)) await tellGone(message, chat)
    return sent
  }

  const post = (message: Outgoing, chat: string) =>
    call({
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat_id: chat, text: message.text, ...keyboardOf(message.content) }),
      timeoutMs: settings.timeoutMs,
    })

  function read(called: CallResult, chat: string): Sent {
    if (called.kind !== 'answered') return unanswered(called)
    const now = new Date()
    const trouble = inTrouble(called, now)
    if (trouble) return trouble
    if (called.status === 429) return limited(limits, chat, askedWaitMs(called, now))
    limits.passed()
    return wrongToken(called) ?? taken(called) ?? refusedAs(called, secrets) ?? foreign(called)
  }

  /** If this cannot be stored, the next message to that chat reports it again. */
  const tellGone = ({ companyId, channelType, senderName }: Outgoing, address: string) =>
    feed.gone({ companyId, channelType, senderName, address }).catch(() => {})

  return new CallingChannel({ window: settings.window, send })
}

function refusedAs({ body }: Answered, secrets: string[]): Sent | undefined {
  const { ok, description } = objectOf(body)
  if (ok !== false || typeof description !== 'string') return undefined
  return refused(meaningOf(description)?.errorCode ?? errorCodes.refusedByChannel, quoted(description, secrets))
}

/** The token is part of the address, so a wrong token may also be "not found". */
const wrongToken = ({ status }: Answered) =>
  [401, 404, 421].includes(status) ? misconfigured(`Telegram does not know the bot (${status})`) : undefined

/** There are no receipts, so the id of the message is not needed. */
function taken({ body }: Answered): Sent | undefined {
  const { ok, result } = objectOf(body)
  return ok === true && Number.isSafeInteger(objectIn(result).message_id)
    ? { kind: 'accepted', delivered: true }
    : undefined
}

/** Telegram counts characters. A string of JavaScript has at least one unit for each. */
function refuseTooLong({ text }: Outgoing): Sent | undefined {
  if (text.length <= MOST_CHARACTERS || [...text].length <= MOST_CHARACTERS) return undefined
  const reason = `the text is longer than ${MOST_CHARACTERS} characters`
  return { kind: 'refused', errorCode: errorCodes.telegramContent, reason }
}

/** Buttons that open a page, one per row. Telegram has no buttons that call a number. */
function keyboardOf(content: Content | undefined) {
  if (content?.contentType !== 'text') return {}
  const buttons = [content.button, ...(content.buttons ?? [])]
  const rows = buttons.flatMap(button => (button && 'url' in button ? [[{ text: button.text, url: button.url }]] : []))
  return rows.length > 0 ? { reply_markup: { inline_keyboard: rows } } : {}
}

/** A group that became a supergroup has a new id. The message was not sent yet, and is sent to the new id. */
function movedChatOf(called: CallResult): string | undefined {
  if (called.kind !== 'answered' || called.status !== 400) return undefined
  const movedTo = parametersOf(called).migrate_to_chat_id
  return Number.isSafeInteger(movedTo) ? String(movedTo) : undefined
}

const askedWaitMs = (answered: Answered, now: Date) =>
  secondsAsMs(parametersOf(answered).retry_after) ?? retryAfterMs(answered.headers, now)

const parametersOf = ({ body }: Answered) => objectIn(objectOf(body).parameters)

const meaningOf = (description: string) => refusals.find(({ words }) => words.test(description))

const isGone = (sent: Sent) => sent.kind === 'refused' && Boolean(meaningOf(sent.operatorError ?? '')?.isGone)

const closed: number[] = [errorCodes.botBlocked, errorCodes.noTelegramAccount, errorCodes.botNotStarted]
const isClosed = (sent: Sent) => sent.kind === 'refused' && closed.includes(sent.errorCode)
