import type { Outgoing } from '../channel.ts'
import { call } from '../http-call.ts'
import type { Subscription } from './addresses.ts'
import { encrypt, MOST_PLAIN_BYTES } from './encryption.ts'
import { createEndpointCheck } from './endpoints.ts'
import { lifetimeSecondsOf, notificationOf } from './notification.ts'
import type { Pauses } from './pauses.ts'
import {
  type Answered,
  type Meaning,
  meaningOfTrouble,
  NOT_SENT_MS,
  ofMeaning,
  ofUnanswered,
  type PushResult,
} from './push-result.ts'
import type { PushSettings, VapidSettings } from './settings.ts'
import { createVapid } from './vapid.ts'

/** So often a message is tried again when the service rejects our credentials. */
const MOST_UNAUTHORISED = 3

const meanings: Record<number, Meaning> = {
  401: 'misconfigured',
  403: 'misconfigured',
  404: 'gone',
  410: 'gone',
  429: 'later',
}

/** Pushes to browsers through the push services of their vendors (RFC 8030). */
export function createWebPush(
  vapidSettings: VapidSettings,
  settings: Pick<PushSettings, 'allowInsecure' | 'timeoutMs'>,
  pauses: Pauses,
) {
  const vapid = createVapid(vapidSettings)
  const check = createEndpointCheck(settings)

  async function send({ endpoint, keys }: Subscription, message: Outgoing, now: Date): Promise<PushResult> {
    const plain = Buffer.from(JSON.stringify(payloadOf(message)))
    if (plain.length > MOST_PLAIN_BYTES) return { kind: 'refused', reason: 'too long for a push message' }
    const paused = pauses.answerOf(endpoint.origin, now)
    if (paused) return paused
    const verdict = await check(endpoint)
    if (verdict === 'refused') return { kind: 'refused', reason: 'the endpoint is at an address that is not allowed' }
    if (verdict === 'unknown') return { kind: 'busy', reason: 'the endpoint was not found', retryAfterMs: NOT_SENT_MS }

    const headers = {
      authorization: vapid.authorization(endpoint.origin, now),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(lifetimeSecondsOf(message, now)),
      urgency: 'normal',
    }
    const result = await call({
      url: endpoint.href,
      headers,
      body: encrypt(plain, keys),
      timeoutMs: settings.timeoutMs,
    })
    return result.kind === 'answered'
      ? pauses.heard(endpoint.origin, endpoint.href, resultOf(result, message, now), now)
      : ofUnanswered(result)
  }

  return { send }
}

/** The payload for the service worker of the site. A browser shows no notification without a title. */
const payloadOf = (message: Outgoing) => ({
  title: message.senderName,
  ...notificationOf(message),
  messageUuid: message.uuid,
})

function resultOf(answered: Answered, { attempts }: Outgoing, now: Date): PushResult {
  const { status, headers } = answered
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  const meaning = meaningOfTrouble(answered, now) ?? meaningOf(status, attempts)
  return ofMeaning(meaning, 'the push service', `HTTP ${status}`, headers, now)
}

/**
 * If a service rejects our credentials, they may be wrong until a person corrects them. But the endpoint may also belong
 * to a stranger that rejects everything, so the number of attempts is bounded.
 */
function meaningOf(status: number, attempts: number): Meaning {
  const meaning = meanings[status] ?? 'refused'
  return meaning === 'misconfigured' && attempts >= MOST_UNAUTHORISED ? 'refused' : meaning
}
