import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createPlans, type Deed, json, startFakeServer, tellWebhook } from './fake-server.ts'

export type FakeGatewayOptions = { token: string; answerMs?: number }

export type TakenCode = {
  phone_number: string
  request_id?: string
  code: string
  payload: string
  ttl?: number
  callback_url?: string
  sender_username?: string
}

export type DeliveryStatus = 'sent' | 'delivered' | 'read' | 'expired' | 'revoked'

/** An error of the Gateway API. */
export const failure = (error: string, status = 200) => json(status, { ok: false, error })

/** The headers that prove that a report is from Telegram. */
export function signed(token: string, body: string | Uint8Array, timestamp = String(Math.floor(Date.now() / 1000))) {
  const key = createHash('sha256').update(token).digest()
  const signature = createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex')
  return { 'x-request-timestamp': timestamp, 'x-request-signature': signature }
}

const FEE = 0.01

/**
 * A fake of the Gateway API over a real socket: `checkSendAbility` and `sendVerificationMessage`, with strict checks.
 * It accepts every code unless the test planned another behaviour for the number. Then it reports the status of
 * `become` to the callback address. A request has one fee: a successful check has it, and the code sent under its id is
 * free.
 */
export async function startFakeGateway({ token, answerMs = 0 }: FakeGatewayOptions) {
  const taken: TakenCode[] = []
  const checked: string[] = []
  /** The number of each charged fee. */
  const charged: string[] = []
  const complaints: string[] = []
  const requests = new Map<string, { phone_number: string; isUsed: boolean }>()
  const unreachable = new Set<string>()
  const reports = new Set<Promise<unknown>>()
  const fates = new Map<string, DeliveryStatus[]>()
  const { plan, next } = createPlans()
  const { plan: planCheck, next: nextCheck } = createPlans()
  let lastId = 0

  async function deedFor(request: IncomingMessage, body: Buffer): Promise<Deed> {
    const method = methods[request.url ?? '']
    if (!method) return failure('UNKNOWN_METHOD', 404)
    if (request.headers.authorization !== `Bearer ${token}`) return failure('ACCESS_TOKEN_INVALID', 401)
    const complaint = complaintAbout(request) ?? method.complaint(JSON.parse(body.toString('utf8')))
    if (complaint) {
      complaints.push(complaint)
      return failure(complaint)
    }
    return method.answer(JSON.parse(body.toString('utf8')))
  }

  const methods: Record<
    string,
    { complaint(body: TakenCode): string | undefined; answer(body: TakenCode): Promise<Deed> }
  > = {
    '/checkSendAbility': { complaint: complaintAboutCheck, answer: answerCheck },
    '/sendVerificationMessage': { complaint: complaintAboutCode, answer: answerCode },
  }

  async function answerCheck({ phone_number }: TakenCode): Promise<Deed> {
    checked.push(phone_number)
    if (answerMs) await pause(answerMs)
    const planned = nextCheck(phone_number) ?? (unreachable.has(phone_number) ? NOT_FOUND : undefined)
    return planned ?? json(200, { ok: true, result: newRequest(phone_number) })
  }

  function newRequest(phone_number: string) {
    const request_id = `request${++lastId}`
    requests.set(request_id, { phone_number, isUsed: false })
    charged.push(phone_number)
    return { request_id, phone_number, request_cost: FEE, remaining_balance: 9.99 }
  }

  async function answerCode(code: TakenCode): Promise<Deed> {
    const { phone_number } = code
    const planned = next(phone_number) ?? (unreachable.has(phone_number) ? NOT_FOUND : wrongRequest(code))
    if (!planned) taken.push(code)
    if (answerMs) await pause(answerMs)
    return planned ?? take(code)
  }

  function wrongRequest({ request_id, phone_number }: TakenCode): Deed | undefined {
    if (request_id === undefined) return undefined
    const request = requests.get(request_id)
    if (!request) return failure('REQUEST_ID_INVALID')
    if (request.phone_number !== phone_number) return failure('PHONE_NUMBER_MISMATCH')
    if (request.isUsed) return failure('MESSAGE_ALREADY_SENT')
    request.isUsed = true
    return undefined
  }

  function take(code: TakenCode): Deed {
    const { request_id, phone_number, payload } = code
    const result = request_id === undefined ? newRequest(phone_number) : { request_id, phone_number, request_cost: 0 }
    const report = tellAll(code, result.request_id).finally(() => reports.delete(report))
    reports.add(report)
    return json(200, { ok: true, result: { ...result, payload, delivery_status: deliveryOf('sent') } })
  }

  async function tellAll({ phone_number, payload, callback_url }: TakenCode, request_id: string) {
    if (callback_url === undefined) return
    for (const status of fates.get(phone_number) ?? ['delivered']) {
      const refund = status === 'expired' ? { is_refunded: true } : {}
      const delivery_status = deliveryOf(status)
      const report = { request_id, phone_number, request_cost: FEE, ...refund, delivery_status, payload }
      await tell(callback_url, report)
    }
  }

  /** Signs every attempt again, because each has its own time. */
  const tell = (url: string, report: Record<string, unknown>) => {
    const body = JSON.stringify(report)
    return tellWebhook(url, () => ({ headers: signed(token, body), body }))
  }

  const server = await startFakeServer(deedFor)
  return {
    ...server,
    taken,
    checked,
    charged,
    complaints,
    plan,
    planCheck,
    /** The number has no Telegram account. */
    lose: (phoneNumber: string) => unreachable.add(phoneNumber),
    become: (phoneNumber: string, ...statuses: DeliveryStatus[]) => fates.set(phoneNumber, statuses),
    tell,
    /** Resolves after all reports were sent. */
    async quiet() {
      while (reports.size > 0) await Promise.all(reports)
    },
  }
}

const deliveryOf = (status: DeliveryStatus) => ({ status, updated_at: Math.floor(Date.now() / 1000) })

const NOT_FOUND = failure('PHONE_NUMBER_NOT_FOUND')

/** The error name of the API. */
const complaintAbout = ({ method, headers }: IncomingMessage) =>
  method === 'POST' && headers['content-type'] === 'application/json' ? undefined : 'UNKNOWN_METHOD'

function complaintAboutCheck({ phone_number, ...rest }: TakenCode): string | undefined {
  return Object.keys(rest).length > 0 ? 'UNKNOWN_PARAMETER' : complaintAboutNumber(phone_number)
}

const complaintAboutNumber = (phone_number: string) =>
  /^\+[1-9]\d{4,14}$/.test(phone_number) ? undefined : 'PHONE_NUMBER_INVALID'

function complaintAboutCode(given: TakenCode): string | undefined {
  const { phone_number, request_id, code, payload, ttl, callback_url, sender_username, ...rest } = given
  if (Object.keys(rest).length > 0) return 'UNKNOWN_PARAMETER'
  if (request_id !== undefined && typeof request_id !== 'string') return 'REQUEST_ID_INVALID'
  if (typeof code !== 'string' || !/^\d{4,8}$/.test(code)) return 'CODE_INVALID'
  if (typeof payload !== 'string' || Buffer.byteLength(payload) > 128) return 'PAYLOAD_INVALID'
  if (ttl !== undefined && !(Number.isInteger(ttl) && ttl >= 30 && ttl <= 3600)) return 'TTL_INVALID'
  if (callback_url !== undefined && !URL.canParse(callback_url)) return 'CALLBACK_URL_INVALID'
  if (sender_username !== undefined && !/^\w+$/.test(sender_username)) return 'SENDER_USERNAME_INVALID'
  return complaintAboutNumber(phone_number)
}
