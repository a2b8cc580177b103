import { type CallResult, call, objectOf } from '../http-call.ts'
import { jwt, secondsOf } from './jwt.ts'
import { laterMs, MISCONFIGURED_MS, NOT_SENT_MS } from './push-result.ts'
import type { FcmSettings } from './settings.ts'

export type TokenResult = { kind: 'token'; token: string } | TokenFailure
export type TokenFailure = { kind: 'busy'; reason: string; retryAfterMs: number }
type Granted = { token: string; lifetimeMs: number }

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ASSERTION_SECONDS = 3600
/** A token is renewed so long before its end, or after half of its lifetime if that is shorter. */
const RENEW_BEFORE_MS = 300_000
/** If the server rejects a token of this age, it would reject a new token too. */
const FRESH_MS = 10_000

/**
 * The access token of a service account. It is fetched when it is needed first, and kept until shortly before its end.
 * Concurrent requests share one fetch. After a failure there is no fetch before the time to retry.
 */
export function createAccessTokens(account: Omit<FcmSettings, 'baseUrl' | 'projectId'>, timeoutMs: number) {
  let held: { token: string; since: number; renewAt: number; endsAt: number } | undefined
  let failed: { failure: TokenFailure; until: number } | undefined
  let fetching: Promise<TokenResult> | undefined

  async function take(now: Date): Promise<TokenResult> {
    if (held && now.getTime() < held.renewAt) return { kind: 'token', token: held.token }
    if (failed && now.getTime() < failed.until) return heldBefore(now) ?? failed.failure
    fetching ??= renew(now).finally(() => {
      fetching = undefined
    })
    return fetching
  }

  /** A token that cannot be renewed is used until its end. */
  const heldBefore = (now: Date): TokenResult | undefined =>
    held && now.getTime() < held.endsAt ? { kind: 'token', token: held.token } : undefined

  async function renew(now: Date): Promise<TokenResult> {
    const granted = grantedOf(await ask(now), now)
    if ('kind' in granted) {
      failed = { failure: granted, until: now.getTime() + granted.retryAfterMs }
      return heldBefore(now) ?? granted
    }
    failed = undefined
    hold(granted, now.getTime())
    return { kind: 'token', token: granted.token }
  }

  function hold({ token, lifetimeMs }: Granted, since: number) {
    const endsAt = since + lifetimeMs
    held = { token, since, renewAt: endsAt - Math.min(RENEW_BEFORE_MS, lifetimeMs / 2), endsAt }
  }

  function ask(now: Date): Promise<CallResult> {
    const iat = secondsOf(now)
    const claims = { iss: account.clientEmail, scope: SCOPE, aud: account.tokenUrl, iat, exp: iat + ASSERTION_SECONDS }
    const assertion = jwt('RS256', claims, account.privateKey)
    return call({
      url: account.tokenUrl,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
      timeoutMs,
    })
  }

  return {
    take,
    /** The server rejected the token: the next request fetches a new one. */
    forget(token: string, now: Date) {
      if (held?.token === token && now.getTime() - held.since >= FRESH_MS) held = undefined
    },
  }
}

/** The message was not sent yet, so it can be sent later after any error here. */
function grantedOf(result: CallResult, now: Date): Granted | TokenFailure {
  if (result.kind !== 'answered') return failure(result.reason, NOT_SENT_MS)
  const { access_token, expires_in, error } = objectOf(result.body)
  if (result.status === 200 && typeof access_token === 'string' && /^[\x21-\x7e]+$/.test(access_token))
    return { token: access_token, lifetimeMs: lifetimeSecondsOf(expires_in) * 1000 }

  const word = typeof error === 'string' && /^\w{1,40}$/.test(error) ? error : `HTTP ${result.status}`
  if (result.status === 429 || result.status >= 500) return failure(word, laterMs(result.headers, now))
  return failure(word, MISCONFIGURED_MS)
}

const failure = (reason: string, retryAfterMs: number): TokenFailure => ({
  kind: 'busy',
  reason: `no access token for FCM: ${reason}`,
  retryAfterMs,
})

const lifetimeSecondsOf = (expiresIn: unknown) =>
  typeof expiresIn === 'number' && expiresIn > 0 ? Math.min(expiresIn, 86_400) : 3600
