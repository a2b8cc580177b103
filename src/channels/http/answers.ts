import { readId } from '../../base/plain-words.ts'
import type { Sent } from '../calling-channel.ts'
import { type CallResult, objectOf, retryAfterMs } from '../http-call.ts'
import { readError, refusalCodeOf } from './failures.ts'

type Answer = Extract<CallResult, { kind: 'answered' }>

/** The gateway is set up wrongly: its messages wait for somebody to look. */
const MISCONFIGURED_RETRY_MS = 60_000
const NOT_REACHED_RETRY_MS = 5000
const BROKEN_RETRY_MS = 10_000
/** For a 429 that does not say when to come back, or asks for this message alone to come again. */
const TOO_FAST_RETRY_MS = 1000
const MOST_PARTS = 255

/** What became of the message by what the call brought; docs/gateway-protocol.md has the same as a table. */
export function resultOf(called: CallResult, idempotent: boolean, now: Date): Sent {
  switch (called.kind) {
    case 'not sent':
      return { kind: 'busy', reason: called.reason, retryAfterMs: NOT_REACHED_RETRY_MS }
    case 'maybe sent':
      return { kind: idempotent ? 'lost' : 'unknown', reason: called.reason }
    case 'answered':
      return answered(called, idempotent, now)
  }
}

function answered(answer: Answer, idempotent: boolean, now: Date): Sent {
  const { status } = answer
  if (status >= 200 && status < 300) return accepted(answer) ?? broken('an answer without an id', idempotent)
  if (status === 429) return later(answer, retryAfterMs(answer.headers, now) ?? TOO_FAST_RETRY_MS)
  if (status === 409) return { kind: 'lost', reason: 'answer 409: still at it', retryAfterMs: TOO_FAST_RETRY_MS }
  if (status >= 500) return unavailable(answer, now) ?? broken(`answer ${status}`, idempotent)
  return refused(answer) ?? misconfigured(status)
}

function accepted({ body }: Answer): Sent | undefined {
  const { id, ids } = objectOf(body)
  const told = Array.isArray(ids) ? ids : [id]
  const providerIds = told.slice(0, MOST_PARTS + 1).flatMap(one => readId(one) ?? [])
  const isReadable = told.length > 0 && told.length <= MOST_PARTS && new Set(providerIds).size === told.length
  return isReadable ? { kind: 'accepted', providerIds } : undefined
}

/** A wait of nothing is about this message alone; any other is about everybody's. */
const later = ({ status }: Answer, waitMs: number): Sent =>
  waitMs > 0
    ? { kind: 'throttled', reason: `answer ${status}: not so fast`, retryAfterMs: waitMs }
    : { kind: 'busy', reason: `answer ${status}`, retryAfterMs: TOO_FAST_RETRY_MS }

/** Only a provider that says when to come back has surely not taken it: a proxy answers 503 for a server that may have. */
function unavailable(answer: Answer, now: Date): Sent | undefined {
  const waitMs = answer.status === 503 ? retryAfterMs(answer.headers, now) : undefined
  return waitMs === undefined ? undefined : later(answer, waitMs)
}

/** It may have gone out. A provider that takes it once is asked again, and no other, with patience: it is in trouble. */
const broken = (reason: string, idempotent: boolean): Sent =>
  idempotent ? { kind: 'lost', reason, retryAfterMs: BROKEN_RETRY_MS } : { kind: 'unknown', reason }

/** These are never about a message, whatever their body says. */
const ABOUT_THE_GATEWAY = [401, 403, 404, 405, 410]

function refused({ status, body }: Answer): Sent | undefined {
  const { code, message } = readError(objectOf(body).error)
  if (code === undefined || status < 400 || ABOUT_THE_GATEWAY.includes(status)) return undefined
  return { kind: 'refused', errorCode: refusalCodeOf(code), reason: message ?? code, operatorError: code }
}

/** A redirect, no right to come in, nobody at the address, or a refusal that is none of the protocol's. */
const misconfigured = (status: number): Sent => ({
  kind: 'busy',
  reason: `answer ${status}: the gateway's address or its right to send is wrong`,
  retryAfterMs: MISCONFIGURED_RETRY_MS,
})
