import { errorCodes } from '../../base/error-codes.ts'
import { CallingChannel, type Sent, underOwnId } from '../calling-channel.ts'
import type { Feed, Outgoing } from '../channel.ts'
import { call } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import { resultOf } from './answer.ts'
import { bodyOf } from './message.ts'
import { readSettings, type WhatsappSettings } from './settings.ts'

/**
 * WhatsApp through Meta's Cloud API. Throws if a setting is wrong. Receipts and inbound messages do not use the feed: Meta
 * calls our webhook, see `webhook.ts`.
 */
export function createWhatsapp(raw: RawSettings, _feed: Feed): CallingChannel {
  const settings = readSettings(raw)
  return new CallingChannel({
    window: settings.window,
    send: message => send(message, settings),
    unanswered: (message, reason) => underOwnId({ kind: 'unknown', reason }, message),
  })
}

async function send(message: Outgoing, settings: WhatsappSettings): Promise<Sent> {
  const body = bodyOf(message, settings)
  if (body === undefined) return NO_TEMPLATE
  const { baseUrl, apiVersion, phoneNumberId, accessToken, timeoutMs } = settings
  const result = await call({
    url: `${baseUrl}/${apiVersion}/${phoneNumberId}/messages`,
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body,
    timeoutMs,
  })
  return underOwnId(resultOf(result, new Date()), message)
}

/** A code is useless later, so the message fails at once and another channel can be tried. */
const NO_TEMPLATE: Sent = {
  kind: 'refused',
  errorCode: errorCodes.refusedByChannel,
  reason: 'the gateway has no template for codes',
}
