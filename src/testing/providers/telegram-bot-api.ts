import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createPlans, type Deed, json, startFakeServer, tellWebhook } from './fake-server.ts'

export type FakeTelegramOptions = { token: string; webhookSecret?: string; answerMs?: number }

export type TakenMessage = { chat: string; text: string; keyboard?: { text: string; url: string }[][] }

/** An error of the Bot API. */
export const failure = (status: number, description: string, parameters?: Record<string, unknown>) =>
  json(status, { ok: false, error_code: status, description, ...(parameters ? { parameters } : {}) })

export const tooMany = (seconds: number) =>
  failure(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })

/**
 * A fake of the Bot API over a real socket. It has only `sendMessage` and checks requests strictly. It accepts every
 * message unless the test planned another behaviour for the chat. `complaints` are requests that the real API would
 * refuse as malformed.
 */
export async function startFakeTelegram({ token, webhookSecret = '', answerMs = 0 }: FakeTelegramOptions) {
  const taken: TakenMessage[] = []
  const complaints: string[] = []
  const { plan, next } = createPlans()
  let requests = 0
  let lastId = 0
  let lastUpdate = 0

  async function deedFor(request: IncomingMessage, body: Buffer): Promise<Deed> {
    requests++
    const [, given, method] = /^\/bot([^/]+)\/([^/?]+)$/.exec(request.url ?? '') ?? []
    if (method === undefined) return failure(404, 'Not Found')
    if (given !== token) return failure(401, 'Unauthorized')
    const complaint = complaintAbout(request, method, body)
    if (complaint) {
      complaints.push(complaint)
      return failure(400, `Bad Request: ${complaint}`)
    }
    const message = readMessage(body)
    const planned = next(message.chat)
    if (!planned) taken.push(message)
    if (answerMs) await pause(answerMs)
    return planned ?? json(200, { ok: true, result: sentMessage(message) })
  }

  const sentMessage = ({ chat, text }: TakenMessage) => ({
    message_id: ++lastId,
    from: { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Romashka', username: 'romashka_bot' },
    chat: { id: Number(chat), type: 'private', first_name: 'Vera' },
    date: Math.floor(Date.now() / 1000),
    text,
  })

  const server = await startFakeServer(deedFor)
  return {
    ...server,
    taken,
    complaints,
    plan,
    requests: () => requests,
    /** Sends an update to a webhook until it is accepted. */
    tell: (url: string, update: Record<string, unknown>) => {
      const body = JSON.stringify({ update_id: ++lastUpdate, ...update })
      return tellWebhook(url, () => ({ headers: { 'x-telegram-bot-api-secret-token': webhookSecret }, body }))
    },
  }
}

function complaintAbout(request: IncomingMessage, method: string, body: Buffer): string | undefined {
  if (request.method !== 'POST') return `method ${request.method}`
  if (method !== 'sendMessage') return `no method ${method}`
  if (request.headers['content-type'] !== 'application/json') return `type ${request.headers['content-type']}`
  if (request.headers['content-length'] !== String(body.length)) return 'wrong length'
  if (!Buffer.from(body.toString('utf8')).equals(body)) return 'strings must be encoded in UTF-8'
  try {
    return complaintAboutMessage(JSON.parse(body.toString('utf8')))
  } catch {
    return "can't parse the body"
  }
}

function complaintAboutMessage({ chat_id, text, reply_markup, ...rest }: Record<string, unknown>): string | undefined {
  if (Object.keys(rest).length > 0) return `unknown parameters ${Object.keys(rest)}`
  if (typeof chat_id !== 'string' || !/^-?[1-9]\d*$/.test(chat_id)) return 'chat_id is empty'
  if (typeof text !== 'string') return 'message text is empty'
  return reply_markup === undefined ? undefined : complaintAboutMarkup(reply_markup)
}

function complaintAboutMarkup(markup: unknown): string | undefined {
  const { inline_keyboard: rows, ...rest } = markup as { inline_keyboard?: unknown }
  if (Object.keys(rest).length > 0 || !Array.isArray(rows) || rows.length === 0) return "can't parse reply markup"
  const buttons: Record<string, unknown>[] = rows.flat()
  return buttons.every(isUrlButton) ? undefined : "can't parse inline keyboard button"
}

const isUrlButton = ({ text, url, ...rest }: Record<string, unknown>) =>
  typeof text === 'string' && text !== '' && URL.canParse(String(url)) && Object.keys(rest).length === 0

function readMessage(body: Buffer): TakenMessage {
  const { chat_id: chat, text, reply_markup } = JSON.parse(body.toString('utf8'))
  return { chat, text, ...(reply_markup ? { keyboard: reply_markup.inline_keyboard } : {}) }
}
