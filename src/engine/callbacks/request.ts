import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import {
  ADDRESS_REFUSED,
  type AddressCheck,
  addressRefused,
  createAddressCheck,
  createLookup,
  type Resolve,
  resolveName,
} from './address.ts'

export type RequestSettings = {
  /** Networks that callbacks may reach although they are not public. */
  allow: string[]
  sourceIp?: string
  /** For a whole request: lookup of the name, connection, TLS and response. */
  timeoutMs?: number
  resolve?: Resolve
}

/** The parts of an address, parsed once for all requests to it. */
export type Target = {
  secure: boolean
  hostname: string
  port: number
  path: string
  authorization: string | undefined
}

/** `answered`: the receiver answered; `answer` is the beginning of the body. `abandoned`: the engine stopped meanwhile. */
export type PostResult =
  | { kind: 'answered'; statusCode: number; answer: string }
  | { kind: 'failed'; error: string }
  | { kind: 'abandoned' }

type Headers = Record<string, string | number>

const TIMEOUT_MS = 15_000
const MOST_ANSWER_BYTES = 64 * 1024
/** The beginning of a response that is stored with the attempt. */
const KEPT_ANSWER_BYTES = 512
/** All companies that use a host share these connections. */
const MOST_CONNECTIONS_TO_A_HOST = 16
/** Shorter than the idle timeout of common servers. A connection that the server closes first makes us send again. */
const IDLE_CONNECTION_MS = 4000

export function targetOf(url: string): Target | undefined {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return undefined
  const secure = parsed.protocol === 'https:'
  return {
    secure,
    hostname: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(parsed.port) || (secure ? 443 : 80),
    path: parsed.pathname + parsed.search,
    authorization: basicOf(parsed),
  }
}

function basicOf({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a percent sign that is no encoding
  }
}

/** Sends POST requests. It keeps connections open, in a pool for each host. */
export class Poster {
  readonly #isAllowed: AddressCheck
  readonly #timeoutMs: number
  readonly #agents: { plain: Agent; secure: HttpsAgent }
  readonly #open = new Set<Exchange>()
  #isClosed = false

  constructor(settings: RequestSettings) {
    this.#isAllowed = createAddressCheck(settings.allow)
    this.#timeoutMs = settings.timeoutMs ?? TIMEOUT_MS
    const options = {
      keepAlive: true,
      maxSockets: MOST_CONNECTIONS_TO_A_HOST,
      timeout: IDLE_CONNECTION_MS,
      lookup: createLookup(this.#isAllowed, settings.resolve ?? resolveName, familyOf(settings.sourceIp ?? '')),
      localAddress: settings.sourceIp,
      autoSelectFamilyAttemptTimeout: 2000,
    }
    this.#agents = { plain: new Agent(options), secure: new HttpsAgent(options) }
  }

  async post(target: Target, headers: Headers, body: string): Promise<PostResult> {
    // The lookup checks the addresses of names. For an address in the URL the socket makes no lookup.
    if (isIP(target.hostname) && !this.#isAllowed(target.hostname)) return failed(addressRefused())
    const first = await this.#exchange(target, headers, body)
    const last = first === 'stale' ? await this.#exchange(target, headers, body) : first
    return last === 'stale' ? failed(coded('ECONNRESET')) : last
  }

  /** Ends the open requests, which become `abandoned`, and closes every connection. */
  close(): void {
    this.#isClosed = true
    for (const exchange of this.#open) exchange.breakOff()
    this.#agents.plain.destroy()
    this.#agents.secure.destroy()
  }

  async #exchange(target: Target, headers: Headers, body: string): Promise<PostResult | 'stale'> {
    if (this.#isClosed) return { kind: 'abandoned' }
    const exchange = new Exchange(this.#requestTo(target, headers, body), this.#timeoutMs)
    this.#open.add(exchange)
    await exchange.run(body)
    this.#open.delete(exchange)
    return exchange.answer() ?? (this.#isClosed ? { kind: 'abandoned' } : exchange.failure())
  }

  #requestTo(target: Target, headers: Headers, body: string): ClientRequest {
    return (target.secure ? httpsRequest : httpRequest)({
      agent: target.secure ? this.#agents.secure : this.#agents.plain,
      method: 'POST',
      host: target.hostname,
      port: target.port,
      path: target.path,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Tidings',
        ...(target.authorization ? { authorization: target.authorization } : {}),
        ...headers,
      },
    })
  }
}

function familyOf(address: string): 4 | 6 | undefined {
  const version = isIP(address)
  return version === 4 || version === 6 ? version : undefined
}

/** One request and its response. */
class Exchange {
  readonly #request: ClientRequest
  readonly #timeoutMs: number
  #timer: NodeJS.Timeout | undefined
  #response: IncomingMessage | undefined
  #beginning = () => ''
  #error: Error | undefined

  constructor(request: ClientRequest, timeoutMs: number) {
    this.#request = request
    this.#timeoutMs = timeoutMs
  }

  /** Resolves when the exchange is over, with or without a response. */
  run(body: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#request.once('socket', () => this.#startTimer())
    this.#request.once('response', response => {
      this.#response = response
      this.#beginning = readBeginning(response)
    })
    this.#request.on('error', error => {
      this.#error ??= error
    })
    this.#request.once('close', () => {
      clearTimeout(this.#timer)
      resolve()
    })
    this.#request.end(body)
    return promise
  }

  /** The time runs from when the request has a connection: the receiver does not cause the wait for a free one. */
  #startTimer() {
    this.#timer = setTimeout(() => this.#request.destroy(coded('ETIMEDOUT')), this.#timeoutMs)
  }

  breakOff(): void {
    this.#request.destroy()
  }

  /** The status counts, also when the rest of the response could not be read. */
  answer(): PostResult | undefined {
    if (!this.#response) return undefined
    return { kind: 'answered', statusCode: this.#response.statusCode ?? 0, answer: this.#beginning() }
  }

  /** `stale`: the receiver had closed a kept connection before the request, so it has seen nothing of the request. */
  failure(): PostResult | 'stale' {
    const error = this.#error ?? coded('ECONNRESET')
    const wasClosed = ['ECONNRESET', 'EPIPE'].includes(codeOf(error))
    return wasClosed && this.#request.reusedSocket ? 'stale' : failed(error)
  }
}

/**
 * Reads a response to its end, so that the connection can be used again. A response that is too long closes the connection.
 * The function that it returns gives the beginning of the text.
 */
function readBeginning(response: IncomingMessage): () => string {
  let bytes = 0
  const kept: Buffer[] = []
  response.on('data', (chunk: Buffer) => {
    if (bytes < KEPT_ANSWER_BYTES) kept.push(chunk.subarray(0, KEPT_ANSWER_BYTES - bytes))
    bytes += chunk.length
    if (bytes > MOST_ANSWER_BYTES) response.destroy()
  })
  response.on('error', () => {})
  return () => printable(wholeCharacters(Buffer.concat(kept)))
}

/** Leaves out the last character when some of its bytes are missing. */
const wholeCharacters = (bytes: Buffer) => new TextDecoder().decode(bytes, { stream: true })

/** PostgreSQL cannot store a zero byte, and the cabinet cannot show other control characters. */
const printable = (text: string) => text.replace(/[^\P{Cc}\n\t]/gu, '')

const coded = (code: string) => Object.assign(new Error(code), { code })
const codeOf = (error: Error) => ('code' in error && typeof error.code === 'string' ? error.code : '')

const failed = (error: Error): PostResult => ({ kind: 'failed', error: reasonOf(codeOf(error)) })

const reasons: Record<string, string> = {
  [ADDRESS_REFUSED]: 'the address is in a network that is not allowed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed without an answer',
  EPIPE: 'connection closed without an answer',
  ETIMEDOUT: 'no answer in time',
  ETIMEOUT: 'the name servers are silent',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host not found for now',
}

/** Customers read this text. It is made from the error code alone, because the message of an error may contain the address. */
function reasonOf(code: string): string {
  if (reasons[code]) return reasons[code]
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `secure connection failed: ${code}`
  return `request failed: ${code || 'unknown'}`
}
