import { randomBytes, webcrypto } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * A push service and its browsers, for tests, over real sockets. It makes every check that a real push service may
 * make. Its browsers decrypt messages with Web Crypto, in code that is independent of our own encryption.
 */
export type FakePushService = {
  origin: string
  /**
   * A new browser. `answer` chooses the answer of its push service to each call, counted from 0. The default is 201.
   */
  subscribe(answer?: (call: number) => FakeAnswer | undefined): Promise<Browser>
  /** The messages that reached a browser, in order. */
  deliveries: Delivery[]
  /** The errors in calls. */
  problems: string[]
  stop(): Promise<void>
}

/** `silence` never answers. `hangUp` closes the connection instead. */
export type FakeAnswer = { status: number; headers?: Record<string, string>; body?: string } | 'silence' | 'hangUp'

export type Browser = { address: string; endpoint: string; calls(): number }

export type Delivery = {
  endpoint: string
  payload: Record<string, unknown>
  ttl: number
  urgency: string | undefined
  claims: Record<string, unknown>
}

export type FakePushOptions = {
  /** The key that browsers got when they subscribed. */
  applicationServerKey: string
  subject: string
  answerMs?: number
}

type Keys = { pair: webcrypto.CryptoKeyPair; point: Buffer; auth: Buffer }
type Known = Keys & { answer: (call: number) => FakeAnswer | undefined; calls: number }

const { subtle } = webcrypto
const P256 = { name: 'ECDH', namedCurve: 'P-256' }
const DAY_SECONDS = 86_400

export async function startPushService(options: FakePushOptions): Promise<FakePushService> {
  const browsers = new Map<string, Known>()
  const deliveries: Delivery[] = []
  const problems: string[] = []
  const server = createServer((request, response) => {
    take(request, response).catch(error => {
      problems.push(String(error))
      response.writeHead(500).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function subscribe(answer: Known['answer'] = () => undefined): Promise<Browser> {
    const pair = (await subtle.generateKey(P256, true, ['deriveBits'])) as webcrypto.CryptoKeyPair
    const point = Buffer.from(await subtle.exportKey('raw', pair.publicKey))
    const known = { pair, point, auth: randomBytes(16), answer, calls: 0 }
    const path = `/push/${randomBytes(16).toString('base64url')}`
    browsers.set(path, known)
    const endpoint = origin + path
    const keys = { p256dh: point.toString('base64url'), auth: known.auth.toString('base64url') }
    return { address: JSON.stringify({ endpoint, expirationTime: null, keys }), endpoint, calls: () => known.calls }
  }

  async function take(request: IncomingMessage, response: ServerResponse) {
    const browser = browsers.get(request.url!)
    const body = await bodyOf(request)
    if (options.answerMs) await pause(options.answerMs)
    if (!browser) return response.writeHead(404).end()

    const answer = browser.answer(browser.calls++)
    const wrong = headerProblem(request) ?? (await vapidProblem(request.headers.authorization ?? '', origin, options))
    if (wrong) {
      problems.push(wrong.problem)
      return response.writeHead(wrong.status).end(wrong.problem)
    }
    const payload = JSON.parse((await decrypt(body, browser)).toString())
    if (answer === 'silence') return
    if (answer === 'hangUp') return request.socket.destroy()
    if (answer && answer.status >= 300) return response.writeHead(answer.status, answer.headers).end(answer.body)
    deliveries.push(deliveryOf(request, origin, payload))
    const location = { location: `${origin}/message/${payload.messageUuid}` }
    response.writeHead(answer?.status ?? 201, answer?.headers ?? location).end()
  }

  return {
    origin,
    subscribe,
    deliveries,
    problems,
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

type Problem = { status: number; problem: string }

function headerProblem({ method, headers }: IncomingMessage): Problem | undefined {
  if (method !== 'POST') return { status: 405, problem: `method ${method}` }
  if (headers['content-encoding'] !== 'aes128gcm') return { status: 400, problem: 'content-encoding' }
  if (!/^\d+$/.test(String(headers.ttl))) return { status: 400, problem: 'ttl' }
  if (headers.topic !== undefined) return { status: 400, problem: 'a topic would replace other messages' }
  if (!['very-low', 'low', 'normal', 'high'].includes(String(headers.urgency)))
    return { status: 400, problem: 'urgency' }
  return Number(headers['content-length']) > 4096 ? { status: 413, problem: 'too large' } : undefined
}

/** RFC 8292: signed with the key of the subscription, for this service, valid for at most a day, with a contact. */
async function vapidProblem(authorization: string, origin: string, options: FakePushOptions) {
  const refuse = (status: number, problem: string): Problem => ({ status, problem })
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? []
  if (!token) return refuse(401, 'no vapid authorization')
  if (key !== options.applicationServerKey) return refuse(403, 'another key than the subscription')
  if (!(await isSigned(token, key))) return refuse(403, 'the signature is wrong')

  const { aud, exp, sub } = claimsOf(token)
  const seconds = Date.now() / 1000
  if (aud !== origin) return refuse(403, `aud ${aud}`)
  if (typeof exp !== 'number' || exp <= seconds || exp > seconds + DAY_SECONDS) return refuse(403, `exp ${exp}`)
  return sub === options.subject ? undefined : refuse(403, `sub ${sub}`)
}

async function isSigned(token: string, key: string): Promise<boolean> {
  const [header = '', claims = '', signature = ''] = token.split('.')
  if (decoded(header).alg !== 'ES256') return false
  const point = Buffer.from(key, 'base64url')
  const publicKey = await subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  return subtle.verify(algorithm, publicKey, Buffer.from(signature, 'base64url'), Buffer.from(`${header}.${claims}`))
}

export const claimsOf = (token: string) => decoded(token.split('.')[1]!)

const decoded = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString())

function deliveryOf({ url, headers }: IncomingMessage, origin: string, payload: Record<string, unknown>): Delivery {
  return {
    endpoint: origin + url,
    payload,
    ttl: Number(headers.ttl),
    urgency: headers.urgency as string | undefined,
    claims: claimsOf(/t=([\w.-]+)/.exec(headers.authorization!)![1]!),
  }
}

/**
 * Decrypts a message as a browser does (RFC 8291). Throws if it was not encrypted for this browser, or not in one
 * record.
 */
export async function decrypt(body: Buffer, { pair, point, auth }: Keys): Promise<Buffer> {
  const salt = body.subarray(0, 16)
  const recordBytes = body.readUInt32BE(16)
  const senderPoint = body.subarray(21, 21 + body.readUInt8(20))
  const record = body.subarray(21 + senderPoint.length)
  if (record.length > recordBytes) throw new Error('more than one record')

  const sender = await subtle.importKey('raw', senderPoint, P256, false, [])
  const shared = await subtle.deriveBits({ name: 'ECDH', public: sender }, pair.privateKey, 256)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), point, senderPoint])
  const material = await hkdf(shared, auth, info, 32)
  const key = await hkdf(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const iv = await hkdf(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipherKey = await subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  return unpadded(Buffer.from(await subtle.decrypt({ name: 'AES-GCM', iv }, cipherKey, record)))
}

async function hkdf(material: ArrayBuffer, salt: Buffer, info: Buffer, bytes: number): Promise<ArrayBuffer> {
  const key = await subtle.importKey('raw', material, 'HKDF', false, ['deriveBits'])
  return subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bytes * 8)
}

/** The last record ends with a 2, then any number of zeros. */
function unpadded(plain: Buffer): Buffer {
  const end = plain.findLastIndex(byte => byte !== 0)
  if (plain[end] !== 2) throw new Error('not the last record')
  return plain.subarray(0, end)
}
