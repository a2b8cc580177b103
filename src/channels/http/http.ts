import { errorCodes } from '../../base/error-codes.ts'
import { CallingChannel, type Sent } from '../calling-channel.ts'
import type { Feed, Outgoing } from '../channel.ts'
import { call } from '../http-call.ts'
import type { RawSettings } from '../settings.ts'
import { resultOf } from './answers.ts'
import { type HttpSettings, readSettings } from './settings.ts'
import { signedHeaders } from './signature.ts'
import { type Submission, submissionOf } from './submission.ts'

/**
 * A provider that uses our own JSON protocol. It sends receipts to the webhook (`webhook.ts`). Throws if a setting is
 * wrong.
 */
export function createHttpGateway(raw: RawSettings, _feed: Feed): CallingChannel {
  const settings = readSettings(raw)
  return new CallingChannel({
    window: settings.window,
    send: message => send(settings, message),
    unanswered: (_, reason) => ({ kind: settings.idempotent ? 'lost' : 'unknown', reason }),
  })
}

async function send(settings: HttpSettings, message: Outgoing): Promise<Sent> {
  const submission = submissionOf(message, settings.statusUrl)
  if ('impossible' in submission)
    return { kind: 'refused', errorCode: errorCodes.badText, reason: submission.impossible }
  const called = await post(settings, submission)
  return resultOf(called, settings.idempotent, new Date())
}

function post({ url, key, authorization, timeoutMs }: HttpSettings, submission: Submission) {
  const body = JSON.stringify(submission)
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': submission.id,
    ...signedHeaders(key, submission.id, body, new Date()),
    ...(authorization ? { authorization } : {}),
  }
  return call({ url, headers, body, timeoutMs })
}
