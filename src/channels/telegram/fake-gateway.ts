import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createPlans, type Deed, json, startFakeServer, tellWebhook } from './fake-server.ts'

export type FakeGatewayOptions = { token: string; answerMs?: number }

export type TakenCode = {
  phone_number: string
  code: string
  payload: string
  ttl?: number
  callback_url?: string
  sender_username?: string
}

export type DeliveryStatus = 'sent' | 'delivered' | 'read' | 'expired' | 'revoked'

/** The Gateway API's way of saying no. */
export const failure = (error: string, status = 200) => json(status, { ok: false, error })

/** The headers by which a report is known to be Telegram's. */
export function signed(token: string, body: string | Uint8Array, timestamp = String(Math.floor(Date.now() / 1000))) {
  const key = createHash('sha256').update(token).digest()
  const signature = createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex')
  return { 'x-request-timestamp': timestamp, 'x-request-signature': signature }
}

/**
 * Plays the Gateway API over a real socket: `sendVerificationMessage` alone, read strictly. It takes every code unless
 * something else is planned for the number, and then reports to the callback address what `become` says of the number.
 */
export async function startFakeGateway({ token, answerMs = 0 }: FakeGatewayOptions) {
  const taken: TakenCode[] = []
  const complaints: string[] = []
  const reports = new Set<Promise<unknown>>()
  const fates = new Map<string, DeliveryStatus[]>()
  const { plan, next } = createPlans()
  let lastId = 0

  async function deedFor(request: IncomingMessage, body: Buffer): Promise<Deed> {
    if (request.url !== '/sendVerificationMessage') return failure('UNKNOWN_METHOD', 404)
    if (request.headers.authorization !== `Bearer ${token}`) return failure('ACCESS_TOKEN_INVALID', 401)
    const complaint = complaintAbout(request, body)
    if (complaint) {
      complaints.push(complaint)
      return failure(complaint)
    }
    const code: TakenCode = JSON.parse(body.toString('utf8'))
    const planned = next(code.phone_number)
    if (!planned) taken.push(code)
    if (answerMs) await pause(answerMs)
    return planned ?? take(code)
  }

  function take(code: TakenCode): Deed {
    const requestId = `request${++lastId}`
    const report = tellAll(code, requestId).finally(() => reports.delete(report))
    reports.add(report)
    const { phone_number, payload } = code
    const result = { request_id: requestId, phone_number, request_cost: 0.01, remaining_balance: 9.99, payload }
    return json(200, { ok: true, result: { ...result, delivery_status: deliveryOf('sent') } })
  }

  async function tellAll({ phone_number, payload, callback_url }: TakenCode, request_id: string) {
    if (callback_url === undefined) return
    for (const status of fates.get(phone_number) ?? ['delivered']) {
      const report = { request_id, phone_number, request_cost: 0.01, delivery_status: deliveryOf(status), payload }
      await tell(callback_url, report)
    }
  }

  /** Signed anew for every try: the time is that of the try. */
  const tell = (url: string, report: Record<string, unknown>) => {
    const body = JSON.stringify(report)
    return tellWebhook(url, () => ({ headers: signed(token, body), body }))
  }

  const server = await startFakeServer(deedFor)
  return {
    ...server,
    taken,
    complaints,
    plan,
    become: (phoneNumber: string, ...statuses: DeliveryStatus[]) => fates.set(phoneNumber, statuses),
    tell,
    /** Resolves when all that was to be told has been told. */
    async quiet() {
      while (reports.size > 0) await Promise.all(reports)
    },
  }
}

const deliveryOf = (status: DeliveryStatus) => ({ status, updated_at: Math.floor(Date.now() / 1000) })

/** In the API's own words. */
function complaintAbout(request: IncomingMessage, body: Buffer): string | undefined {
  if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') return 'UNKNOWN_METHOD'
  const { phone_number, code, payload, ttl, callback_url, sender_username, ...rest } = JSON.parse(body.toString('utf8'))
  if (Object.keys(rest).length > 0) return 'UNKNOWN_PARAMETER'
  if (!/^\+[1-9]\d{4,14}$/.test(phone_number)) return 'PHONE_NUMBER_INVALID'
  if (typeof code !== 'string' || !/^\d{4,8}$/.test(code)) return 'CODE_INVALID'
  if (typeof payload !== 'string' || Buffer.byteLength(payload) > 128) return 'PAYLOAD_INVALID'
  if (ttl !== undefined && !(Number.isInteger(ttl) && ttl >= 30 && ttl <= 3600)) return 'TTL_INVALID'
  if (callback_url !== undefined && !URL.canParse(callback_url)) return 'CALLBACK_URL_INVALID'
  if (sender_username !== undefined && !/^\w+$/.test(sender_username)) return 'SENDER_USERNAME_INVALID'
  return undefined
}
