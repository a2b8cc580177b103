import { setTimeout as pause } from 'node:timers/promises'

export type Call = {
  url: string
  method?: 'POST' | 'GET'
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  timeoutMs: number
}

/** `not sent`: the other side has seen nothing of it. `maybe sent`: it may have, and we do not know what it did. */
export type CallResult =
  | { kind: 'answered'; status: number; headers: Headers; body: string }
  | { kind: 'not sent'; reason: string }
  | { kind: 'maybe sent'; reason: string }

/** An answer longer than this is cut: no provider has that much to say. */
const MOST_ANSWER_BYTES = 256 * 1024
const MOST_RETRY_AFTER_MS = 3600_000

/** Failures of dialling: nothing had left the building yet. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** Calls a provider once. Never throws, never follows a redirect, and tells a failure before sending from one after. */
export async function call({ url, method = 'POST', headers, body, timeoutMs }: Call): Promise<CallResult> {
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    return { kind: 'answered', status: response.status, headers: response.headers, body: await textOf(response) }
  } catch (error) {
    const code = codeOf(error)
    return { kind: NOT_SENT.has(code) ? 'not sent' : 'maybe sent', reason: reasonOf(code) }
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MOST_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MOST_ANSWER_BYTES)
}

function codeOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } }
  return name === 'TimeoutError' ? 'TIMEOUT' : (cause?.code ?? '')
}

/** From the code alone: the words of an error could quote an address with a token in it. */
function reasonOf(code: string): string {
  if (code === 'TIMEOUT') return 'no answer in time'
  return code ? `the call failed: ${code}` : 'the call failed'
}

/** The body as an object; an empty one when it is nothing of the kind. */
export function objectOf(body: string): Record<string, unknown> {
  try {
    const value = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** What `Retry-After` asks for, in seconds or as a date; nothing when it is absent or unreadable. */
export function retryAfterMs(headers: Headers, now: Date): number | undefined {
  const value = headers.get('retry-after')
  if (!value) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_RETRY_AFTER_MS)
}

/** Resolves after so many milliseconds, or at once when the signal is given. */
export const waitFor = (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }).catch(() => {})
