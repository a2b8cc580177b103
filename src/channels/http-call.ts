import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

export type Call = {
  url: string
  method?: 'POST' | 'GET'
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  timeoutMs: number
}

/** `not sent`: the provider has not seen the request. `maybe sent`: it may have, and the effect is not known. */
export type CallResult =
  | { kind: 'answered'; status: number; headers: Headers; body: string }
  | { kind: 'not sent'; reason: string }
  | { kind: 'maybe sent'; reason: string }

/** A longer answer is cut off. */
const MOST_ANSWER_BYTES = 256 * 1024
const MOST_RETRY_AFTER_MS = 3600_000

/** Common servers keep idle connections longer than this. If a server closes one under a request, a message is lost. */
const IDLE_CONNECTION_MS = 4000

const agents = {
  'http:': new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS }),
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the verification off.
  'https:': new HttpsAgent({ keepAlive: true, timeout: IDLE_CONNECTION_MS, rejectUnauthorized: true }),
}

/** Calls a provider once. It never throws and follows no redirects. The result says whether the request was sent. */
export function call(given: Call): Promise<CallResult> {
  return new Promise(resolve => {
    try {
      ask(given, resolve)
    } catch (error) {
      resolve({ kind: 'not sent', reason: reasonOf(codeOf(error)) })
    }
  })
}

/**
 * Node sends nothing before the connection is established (with TLS, before the certificate is verified). After an error
 * before that moment the request was not sent. After a later error it may have been sent, even if the connection was
 * already closed.
 */
function ask({ url, method = 'POST', headers, body, timeoutMs }: Call, resolve: (result: CallResult) => void) {
  const secure = url.startsWith('https:')
  const request = (secure ? httpsRequest : httpRequest)(url, {
    agent: agents[secure ? 'https:' : 'http:'],
    method,
    headers: { 'user-agent': 'Tidings', ...headers },
  })
  let isConnected = false
  const timer = setTimeout(() => request.destroy(Object.assign(new Error(), { code: TIMEOUT })), timeoutMs)

  function end(result: CallResult) {
    clearTimeout(timer)
    resolve(result)
  }

  function fail(error: unknown) {
    const reason = reasonOf(codeOf(error), isConnected)
    end({ kind: isConnected ? 'maybe sent' : 'not sent', reason })
  }

  request.once('socket', socket => {
    isConnected = !socket.connecting
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      isConnected = true
    })
  })
  request.once('response', response =>
    textOf(response).then(text => end({ kind: 'answered', ...headOf(response), body: text }), fail),
  )
  request.on('error', fail)
  request.end(body)
}

const TIMEOUT = 'TIMEOUT'

function headOf({ statusCode = 0, headersDistinct }: IncomingMessage) {
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return { status: statusCode, headers: new Headers(pairs) }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MOST_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MOST_ANSWER_BYTES)
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Only the code of the error is used: its message could contain an address with a token. */
function reasonOf(code: string, isConnected = false): string {
  if (code === TIMEOUT) return isConnected ? 'no answer in time' : 'no connection in time'
  return code ? `the call failed: ${code}` : 'the call failed'
}

/** The body as a JSON object; an empty object if it is none. */
export function objectOf(body: string): Record<string, unknown> {
  try {
    return objectIn(JSON.parse(body))
  } catch {
    return {}
  }
}

/** A value of JSON as an object; an empty object if it is none. */
export const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The wait in `Retry-After`, which has seconds or a date; undefined if it is absent or unreadable. */
export function retryAfterMs(headers: Headers, now: Date): number | undefined {
  const value = headers.get('retry-after')
  if (!value) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS)
}
