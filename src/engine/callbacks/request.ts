import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import {
  ADDRESS_REFUSED,
  addressRefused,
  createAddressCheck,
  createLookup,
  type Resolve,
  resolveName,
} from './address.ts'

export type RequestSettings = {
  /** Networks that may be dialled although they are not public. */
  allow: string[]
  sourceIp?: string
  /** For a whole request: name, connection, TLS and answer. */
  timeoutMs?: number
  resolve?: Resolve
}

/** An address taken apart once for all requests to it. */
export type Target = {
  secure: boolean
  hostname: string
  port: number
  path: string
  authorization: string | undefined
}

export type Answer =
  /** `answer` is the beginning of its body. */
  { kind: 'answered'; statusCode: number; answer: string } | { kind: 'failed'; error: string } | { kind: 'abandoned' } // we stopped: as if it had never been asked

export type Poster = {
  post(target: Target, headers: Record<string, string | number>, body: string): Promise<Answer>
  /** Breaks off what is under way and closes every connection. */
  close(): void
}

const TIMEOUT_MS = 15_000
const MOST_ANSWER_BYTES = 64 * 1024
/** So much of an answer is kept for the log. */
const KEPT_ANSWER_BYTES = 512
/** Several companies may share a host. */
const MOST_CONNECTIONS_TO_A_HOST = 16
/** Shorter than what common servers keep an idle connection: one that they close under our request costs a repeat. */
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
    return text // a percent sign that means itself
  }
}

/** POSTs with kept connections, a pool for every host. */
export function createPoster(settings: RequestSettings): Poster {
  const check = createAddressCheck(settings.allow)
  const family = settings.sourceIp ? (isIP(settings.sourceIp) as 4 | 6) : undefined
  const timeoutMs = settings.timeoutMs ?? TIMEOUT_MS
  const options = {
    keepAlive: true,
    maxSockets: MOST_CONNECTIONS_TO_A_HOST,
    timeout: IDLE_CONNECTION_MS,
    lookup: createLookup(check, settings.resolve ?? resolveName, family),
    localAddress: settings.sourceIp,
    autoSelectFamilyAttemptTimeout: 2000,
  }
  const agents = { plain: new Agent(options), secure: new HttpsAgent(options) }
  const underWay = new Set<ClientRequest>()
  let closed = false

  async function post(target: Target, headers: Record<string, string | number>, body: string): Promise<Answer> {
    // A socket looks no address up when it is given one.
    if (isIP(target.hostname) && !check(target.hostname)) return failed(addressRefused())
    const first = await ask(target, headers, body)
    return first === 'stale' ? ((await ask(target, headers, body)) as Answer) : first
  }

  /** `stale`: a kept connection turned out to be closed already, the receiver has seen nothing. */
  function ask(target: Target, headers: Record<string, string | number>, body: string): Promise<Answer | 'stale'> {
    return new Promise(resolve => {
      if (closed) return resolve({ kind: 'abandoned' })
      const request = (target.secure ? httpsRequest : httpRequest)({
        agent: target.secure ? agents.secure : agents.plain,
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
      let timer: NodeJS.Timeout | undefined
      let answer: IncomingMessage | undefined
      let beginning = () => ''
      let failure: Error | undefined

      underWay.add(request)
      // From when a connection is found or begun: waiting for a free one is not the receiver's fault.
      request.once('socket', () => {
        timer = setTimeout(() => request.destroy(coded('ETIMEDOUT')), timeoutMs)
      })
      request.once('response', response => {
        answer = response
        beginning = skimBody(response)
      })
      request.on('error', error => {
        failure ??= error
      })
      request.once('close', () => {
        clearTimeout(timer)
        underWay.delete(request)
        resolve(outcome())
      })
      request.end(body)

      // Whatever happens to the rest of an answer, its status counts.
      function outcome(): Answer | 'stale' {
        if (answer) return { kind: 'answered', statusCode: answer.statusCode!, answer: beginning() }
        if (closed) return { kind: 'abandoned' }
        const wasClosed = !failure || codeOf(failure) === 'ECONNRESET' || codeOf(failure) === 'EPIPE'
        if (wasClosed && request.reusedSocket) return 'stale'
        return failed(failure ?? coded('ECONNRESET'))
      }
    })
  }

  return {
    post,
    close() {
      closed = true
      for (const request of underWay) request.destroy()
      agents.plain.destroy()
      agents.secure.destroy()
    },
  }
}

/** Reads an answer to its end, to keep the connection; too long a one costs it. Returns what tells its beginning. */
function skimBody(response: IncomingMessage): () => string {
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

/** Without the last character where only its first bytes are there. */
const wholeCharacters = (bytes: Buffer) => new TextDecoder().decode(bytes, { stream: true })

/** The database takes no zero byte, and a page shows no other control character. */
const printable = (text: string) => text.replace(/[^\P{Cc}\n\t]/gu, '')

const coded = (code: string) => Object.assign(new Error(code), { code })
const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? ''

const failed = (error: Error): Answer => ({ kind: 'failed', error: reasonOf(codeOf(error)) })

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

/** Words for a log that strangers read: from the code alone, a message could quote the address. */
function reasonOf(code: string): string {
  if (reasons[code]) return reasons[code]
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `secure connection failed: ${code}`
  return `request failed: ${code || 'unknown'}`
}
