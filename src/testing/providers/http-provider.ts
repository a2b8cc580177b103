import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A message that the provider got. It has checked every member. */
export type Received = {
  id: string
  channel: string
  destination: string
  text: string
  parts: number
  content?: Record<string, unknown>
  statusUrl?: string
  [member: string]: unknown
}

/** The behaviour of the provider for a request. By default it accepts the message. */
export type Reply =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Breaks the connection after reading the request, or after accepting the message. */
  | 'reset'
  | 'take and reset'
  /** Accepts the message and never answers, or never ends its answer. */
  | 'take in silence'
  | 'take and drip'
  /** Accepts the message, and answers with a body that is too long. */
  | 'take and flood'
  /** Accepts the message, and breaks off in the middle of the answer. */
  | 'take and break off'
  /** Accepts the message, and answers with an error. */
  | 'take and fail'

export type FakeProviderOptions = {
  secret: string
  authorization?: string
  answerMs?: number
  /** Answers a repeated idempotency key with the first answer, and accepts no message twice. */
  idempotent?: boolean
  /** Breaks the connection before it reads a request. */
  hangsUp?: () => boolean
  /** The behaviour for a message, by the number of earlier submissions. */
  reply?: (message: Received, before: number) => Reply | undefined
  /** The reports of an accepted message for each of its ids. Empty if the provider sends none. */
  tells?: (message: Received) => Record<string, unknown> | undefined
}

/** The pause before a refused webhook is repeated. */
const TELL_AGAIN_MS = 20
const PATH = '/messages'

/**
 * A provider with the protocol of docs/gateway-protocol.md, over a real socket. It answers 400 to a request that breaks
 * the protocol, and records it in `faults`. It uses its own code for everything, including signatures.
 */
export async function startFakeProvider(options: FakeProviderOptions) {
  const key = Buffer.from(options.secret.slice('whsec_'.length), 'base64')
  const faults: string[] = []
  const taken: Received[] = []
  const bodies: string[] = []
  const handedOver = new Map<string, number>()
  const answers = new Map<string, string>()
  const telling = new Set<Promise<void>>()
  let lastId = 0
  let stopped = false

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => request.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`

  async function serve(request: IncomingMessage, response: ServerResponse) {
    if (options.hangsUp?.()) return request.socket.resetAndDestroy()
    const body = Buffer.concat(await request.toArray())
    const found = faultsOf(request, body, key, options.authorization)
    faults.push(...found)
    if (found.length > 0) return answer(response, { status: 400, body: errorBody('protocol', found.join('; ')) })
    bodies.push(body.toString('utf8'))
    await replyTo(JSON.parse(body.toString('utf8')), request, response)
  }

  async function replyTo(message: Received, request: IncomingMessage, response: ServerResponse) {
    const before = handedOver.get(message.id) ?? 0
    handedOver.set(message.id, before + 1)
    const reply = options.reply?.(message, before)
    if (reply === 'reset') return request.socket.resetAndDestroy()
    if (typeof reply === 'object') return answer(response, reply)

    const body = take(message)
    if (options.answerMs) await pause(options.answerMs)
    if (reply === 'take and reset') return request.socket.resetAndDestroy()
    if (reply === 'take in silence') return
    if (reply === 'take and drip') return drip(response)
    if (reply === 'take and break off') return breakOff(response, body)
    if (reply === 'take and fail') return answer(response, { status: 500, body: errorBody('oops') })
    answer(response, { status: 202, body: reply === 'take and flood' ? flood() : body })
  }

  function take(message: Received): string {
    const before = answers.get(message.id)
    if (before && options.idempotent) return before
    const ids = Array.from({ length: message.parts }, () => `p-${++lastId}`)
    taken.push(message)
    const body = JSON.stringify(ids.length === 1 ? { id: ids[0] } : { ids })
    answers.set(message.id, body)
    const told = options.tells?.(message)
    if (told && message.statusUrl) tell(message.statusUrl, { events: ids.map(id => ({ id, ...told })) })
    return body
  }

  /** Sends a report several times, each with its own id, and repeats each until it is accepted. */
  function tell(statusUrl: string, body: Record<string, unknown>, times = 1) {
    const id = `t-${++lastId}`
    const told = (async () => {
      for (let round = 0; round < times; round++)
        while (!stopped && !(await isTaken(statusUrl, id, JSON.stringify(body)))) await pause(TELL_AGAIN_MS)
    })().finally(() => telling.delete(told))
    telling.add(told)
    return told
  }

  async function isTaken(statusUrl: string, id: string, body: string): Promise<boolean> {
    const status = await post(statusUrl, signed(key, id, body), body)
    return status >= 200 && status < 300
  }

  return {
    url,
    faults,
    taken,
    bodies,
    /** The number of submissions of a message, accepted or not. */
    times: (id: string) => handedOver.get(id) ?? 0,
    tell,
    async stop() {
      stopped = true
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await Promise.all(telling)
    },
  }
}

function answer(response: ServerResponse, { status, headers, body }: Exclude<Reply, string>) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export const errorBody = (code: string, message?: string) => JSON.stringify({ error: { code, message } })

const flood = () => JSON.stringify({ padding: 'x'.repeat(1024 * 1024), id: 'late' })

function drip(response: ServerResponse) {
  response.writeHead(202)
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

function breakOff(response: ServerResponse, body: string) {
  response.writeHead(202, { 'content-length': body.length }).write(body.slice(0, 4), () => response.destroy())
}

// Checking a request ------------------------------------------------------------------------------------------------

function faultsOf(request: IncomingMessage, body: Buffer, key: Buffer, authorization: string | undefined): string[] {
  const message = parsed(body)
  if (!message) return ['the body is no JSON object']
  return [
    request.method === 'POST' || `the method is ${request.method}`,
    request.url === PATH || `the path is ${request.url}`,
    headerFault(request, body, authorization),
    request.headers['idempotency-key'] === message.id || 'the idempotency key is not the id',
    request.headers['webhook-id'] === message.id || 'the webhook id is not the id',
    signatureFault(request, body, key),
    JSON.stringify(message) === body.toString('utf8') || 'the JSON is not in one line',
    memberFault(message),
    contentFault(message),
  ].filter(fault => typeof fault === 'string')
}

function parsed(body: Buffer): Received | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function headerFault({ rawHeaders, headers }: IncomingMessage, body: Buffer, authorization: string | undefined) {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map(name => name.toLowerCase())
  const wanted = [
    ...['connection', 'content-length', 'content-type', 'host', 'idempotency-key', 'user-agent'],
    ...['webhook-id', 'webhook-signature', 'webhook-timestamp'],
    ...(authorization ? ['authorization'] : []),
  ]
  if (names.toSorted().join() !== wanted.toSorted().join()) return `the headers are ${names.join(', ')}`
  if (headers['content-type'] !== 'application/json') return `the content type is ${headers['content-type']}`
  if (headers['content-length'] !== String(body.length)) return `the length is ${headers['content-length']}`
  return headers.authorization === authorization || 'the authorization is wrong'
}

function signatureFault({ headers }: IncomingMessage, body: Buffer, key: Buffer) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 60) return 'the timestamp is not of now'
  const signedBytes = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signedBytes).digest('base64')}`)
  const given = Buffer.from(String(signature))
  return (given.length === expected.length && timingSafeEqual(given, expected)) || 'the signature is wrong'
}

type Check = (value: unknown) => boolean

const isText: Check = value => typeof value === 'string' && value !== ''
const isTime: Check = value => typeof value === 'string' && new Date(value).toISOString() === value
const isAddress: Check = value => typeof value === 'string' && URL.canParse(value)
const matches =
  (form: RegExp): Check =>
  value =>
    typeof value === 'string' && form.test(value)
const within =
  (least: number, most: number): Check =>
  value =>
    typeof value === 'number' && value >= least && value <= most
const isList =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.length > 0 && value.every(check)
const isExactly =
  (members: Record<string, Check>): Check =>
  value =>
    typeof value === 'object' && value !== null && !mismatchOf(value as Record<string, unknown>, members, [])

/** The members in the order of the document; `?` marks optional members. */
const members: Record<string, Check> = {
  version: value => value === 1,
  id: matches(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  channel: isText,
  sender: isText,
  destination: matches(/^\d{5,15}$/),
  text: isText,
  parts: value => Number.isInteger(value) && within(1, 255)(value),
  content: value => typeof value === 'object' && value !== null,
  addresses: isList(isText),
  expiresAt: isTime,
  statusUrl: isAddress,
}

const memberFault = (message: Received) =>
  mismatchOf(message, members, ['content', 'addresses', 'expiresAt', 'statusUrl']) ?? true

const isLink = isExactly({ text: isText, url: isAddress })

/** The optional and the required members of `content` for each channel. */
const contents: Record<string, { members: Record<string, Check>; needs?: string[] }> = {
  SMS: { members: {} },
  VK: { members: {} },
  WEASY: { members: {} },
  TELEGRAM: { members: {} },
  VIBER: { members: { image: isAddress, button: isLink } },
  WHATSAPP: {
    members: {
      templateId: isText,
      parameters: value => Array.isArray(value) && value.every(one => typeof one === 'string'),
      code: isText,
      header: isExactly({ text: isText }),
      footer: isExactly({ text: isText }),
      buttons: isList(value => isLink(value) || isExactly({ text: isText, phone: isText })(value)),
    },
  },
  FLASHCALL: { members: { code: matches(/^\d{4}$/) }, needs: ['code'] },
  VOICECODE: { members: { code: matches(/^\d{4,8}$/) }, needs: ['code'] },
  TEXT_TO_SPEECH: { members: { sex: matches(/^(male|female)$/), speed: within(0.5, 2) } },
  PUSH: { members: { title: isText, url: isAddress, image: isAddress, data: value => typeof value === 'object' } },
}

function contentFault({ channel, content }: Received) {
  const allowed = contents[channel]
  if (!allowed) return `the channel is ${channel}`
  if (content && Object.keys(content).length === 0) return 'the content is empty'
  const optional = Object.keys(allowed.members).filter(name => !allowed.needs?.includes(name))
  return mismatchOf(content ?? {}, allowed.members, optional) ?? true
}

function mismatchOf(value: Record<string, unknown>, checks: Record<string, Check>, optional: string[]) {
  const expected = Object.keys(checks).filter(name => name in value || !optional.includes(name))
  if (Object.keys(value).join() !== expected.join()) return `the members are ${Object.keys(value).join(', ')}`
  const wrong = expected.find(name => !checks[name]!(value[name]))
  return wrong === undefined ? undefined : `"${wrong}" is wrong`
}

// Webhooks ----------------------------------------------------------------------------------------------------------

export function signed(key: Buffer, id: string, body: string, at = new Date()): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** The status of the answer, or 0 without an answer. */
function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise(resolve => {
    const request = httpRequest(
      url,
      { method: 'POST', agent: false, headers: { 'content-type': 'application/json', ...headers }, timeout: 5000 },
      response => {
        response.resume()
        response.once('close', () => resolve(response.statusCode ?? 0))
      },
    )
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(0))
    request.end(body)
  })
}
