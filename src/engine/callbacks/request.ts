import { isIP, Socket } from 'node:net'
import { Agent, buildConnector, Client, type Dispatcher, Pool } from 'undici'
import {
  ADDRESS_REFUSED,
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
  origin: string
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
  return { origin: parsed.origin, path: parsed.pathname + parsed.search, authorization: basicOf(parsed) }
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
  readonly #timeoutMs: number
  readonly #agent: Agent
  readonly #open = new Set<Exchange>()
  #isClosed = false

  constructor(settings: RequestSettings) {
    this.#timeoutMs = settings.timeoutMs ?? TIMEOUT_MS
    const connect = createConnector(settings)
    const openConnection = (origin: URL) => new Connection(origin, connect, settings.sourceIp)
    const poolOptions = { connections: MOST_CONNECTIONS_TO_A_HOST, allowH2: false, factory: openConnection }
    this.#agent = new Agent({ factory: origin => new Pool(origin, poolOptions) })
  }

  async post(target: Target, headers: Headers, body: string): Promise<PostResult> {
    const request = requestTo(target, headers, body)
    const first = await this.#exchange(request)
    const last = first === 'stale' ? await this.#exchange(request) : first
    return last === 'stale' ? failed(coded('ECONNRESET')) : last
  }

  /** Ends the open requests, which become `abandoned`, and closes every connection. */
  close(): void {
    this.#isClosed = true
    for (const exchange of this.#open) exchange.abandon()
    void this.#agent.destroy()
  }

  #exchange(request: Dispatcher.DispatchOptions): Promise<ExchangeResult> {
    if (this.#isClosed) return Promise.resolve({ kind: 'abandoned' })
    const exchange = new Exchange(this.#timeoutMs, this.#open)
    this.#agent.dispatch(request, exchange)
    return exchange.result
  }
}

/**
 * Opens connections to allowed addresses only. The lookup checks the addresses of names. For an address in the URL the socket
 * makes no lookup, so it is checked before.
 */
function createConnector(settings: RequestSettings): buildConnector.connector {
  const isAllowed = createAddressCheck(settings.allow)
  const connect = buildConnector({
    lookup: createLookup(isAllowed, settings.resolve ?? resolveName, familyOf(settings.sourceIp ?? '')),
    autoSelectFamilyAttemptTimeout: 2000,
    allowH2: false,
    timeout: 0, // the exchange has a timer for all of it
  })
  return (options, callback) => {
    if (!isIP(options.hostname) || isAllowed(options.hostname)) return connect(options, callback)
    process.nextTick(callback, addressRefused(), null)
  }
}

function familyOf(address: string): 4 | 6 | undefined {
  const version = isIP(address)
  return version === 4 || version === 6 ? version : undefined
}

const requestTo = ({ origin, path, authorization }: Target, headers: Headers, body: string) => ({
  origin,
  method: 'POST' as const,
  path,
  headers: {
    'content-type': 'application/json',
    'user-agent': 'Tidings',
    ...(authorization && { authorization }),
    ...headers,
  },
  body,
})

/** One connection of a pool. The pool gives it one request at a time. It connects again after its socket was closed. */
class Connection extends Client {
  /** Also while it connects. */
  socket: Socket | undefined

  constructor(origin: URL, connect: buildConnector.connector, localAddress: string | undefined) {
    super(origin, {
      localAddress,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      keepAliveTimeoutThreshold: 1000,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        const socket: unknown = connect(options, callback)
        if (socket instanceof Socket) this.socket = withoutContinue(socket)
      },
    })
  }

  override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Exchange) handler.begin(this)
    return super.dispatch(request, handler)
  }
}

/** The first digit of a status such as 100. Almost every response has another, and is not read as a text. */
const DIGIT_ONE = 0x31

/** A receiver may send "100 Continue" before its answer, although we did not ask for it. undici would close the connection. */
function withoutContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket)
  socket.read = size => {
    const bytes: Buffer | null = read(size)
    if (bytes?.[9] !== DIGIT_ONE || bytes.toString('latin1', 0, 12) !== 'HTTP/1.1 100') return bytes
    const [skipped] = /^(HTTP\/1\.1 100.*?\r\n\r\n)*/s.exec(bytes.toString('latin1')) ?? ['']
    return bytes.subarray(skipped.length)
  }
  return socket
}

/** `stale`: the receiver had closed a kept connection before the request, so it has seen nothing of the request. */
type ExchangeResult = PostResult | 'stale'

/** One request and its response. It is one of the `open` exchanges until it has a result. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly result: Promise<ExchangeResult>
  readonly #resolve: (result: ExchangeResult) => void
  readonly #timeoutMs: number
  readonly #open: Set<Exchange>
  #timer: NodeJS.Timeout | undefined
  #connection: Connection | undefined
  #socket: Socket | undefined
  /** Bytes of the responses to earlier requests on the same socket. */
  #earlierBytes = 0
  #statusCode = 0
  #answerBytes = 0
  readonly #kept: Buffer[] = []
  #isAbandoned = false

  constructor(timeoutMs: number, open: Set<Exchange>) {
    const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
    this.result = promise
    this.#resolve = resolve
    this.#timeoutMs = timeoutMs
    this.#open = open.add(this)
  }

  /** The time runs from when the request has a connection: the receiver does not cause the wait for a free one. */
  begin(connection: Connection): void {
    this.#connection = connection
    this.#timer = setTimeout(() => this.#breakOff(coded('ETIMEDOUT')), this.#timeoutMs)
  }

  abandon(): void {
    this.#isAbandoned = true
    this.#breakOff()
  }

  #breakOff(error?: Error): void {
    this.#connection?.socket?.destroy(error)
  }

  onRequestStart(): void {
    this.#socket = this.#connection?.socket
    this.#earlierBytes = this.#socket?.bytesRead ?? 0
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode >= 200) this.#statusCode = statusCode
  }

  /** Reads a response to its end, so that the connection can be used again. A response that is too long closes the connection. */
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#answerBytes < KEPT_ANSWER_BYTES) this.#kept.push(chunk.subarray(0, KEPT_ANSWER_BYTES - this.#answerBytes))
    this.#answerBytes += chunk.length
    if (this.#answerBytes > MOST_ANSWER_BYTES) this.#breakOff()
  }

  onResponseEnd(): void {
    this.#end(this.#answer())
  }

  /** The status counts, also when the rest of the response could not be read. */
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#statusCode) this.#end(this.#answer())
    else this.#end(this.#isAbandoned ? { kind: 'abandoned' } : this.#failure(error))
  }

  #end(result: ExchangeResult) {
    clearTimeout(this.#timer)
    this.#open.delete(this)
    // undici frees the connection in an immediate. A request before it would open another connection.
    process.nextTick(setImmediate, this.#resolve, result)
  }

  #answer(): PostResult {
    const answer = this.#answerBytes > 0 ? printable(wholeCharacters(Buffer.concat(this.#kept))) : ''
    return { kind: 'answered', statusCode: this.#statusCode, answer }
  }

  #failure(error: Error): ExchangeResult {
    const wasClosed = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error))
    const onlyEarlierBytes = this.#earlierBytes > 0 && this.#socket?.bytesRead === this.#earlierBytes
    return wasClosed && onlyEarlierBytes ? 'stale' : failed(error)
  }
}

/** Leaves out the last character when some of its bytes are missing. */
const wholeCharacters = (bytes: Buffer) => new TextDecoder().decode(bytes, { stream: true })

/** PostgreSQL cannot store a zero byte, and the cabinet cannot show other control characters. */
const printable = (text: string) => text.replace(/[^\P{Cc}\n\t]/gu, '')

const coded = (code: string) => Object.assign(new Error(code), { code })
const codeOf = (error: Error) => ('code' in error && typeof error.code === 'string' ? error.code : error.name)

const failed = (error: Error): PostResult => ({ kind: 'failed', error: reasonOf(codeOf(error)) })

const reasons: Record<string, string> = {
  [ADDRESS_REFUSED]: 'the address is in a network that is not allowed',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed without an answer',
  EPIPE: 'connection closed without an answer',
  UND_ERR_SOCKET: 'connection closed without an answer',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  ETIMEOUT: 'the name servers are silent',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host not found for now',
}

/** Customers read this text. It is made from the error code alone, because the message of an error may contain the address. */
function reasonOf(code: string): string {
  if (reasons[code]) return reasons[code]
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `secure connection failed: ${code}`
  return `request failed: ${code}`
}
