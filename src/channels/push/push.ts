import { errorCodes } from '../../base/error-codes.ts'
import { piecesOf } from '../../base/pieces.ts'
import { CallingChannel, type Sent } from '../calling-channel.ts'
import { type Feed, type Outgoing, type SendResult, timeOf } from '../channel.ts'
import type { RawSettings } from '../settings.ts'
import { readAddress } from './addresses.ts'
import { createFcm } from './fcm.ts'
import { createPauses } from './pauses.ts'
import type { PushResult } from './push-result.ts'
import { readSettings } from './settings.ts'
import { createWebPush } from './web-push.ts'

/** The most calls at once for one subscriber: a long list of addresses is a mistake, and is worked through slowly. */
const ADDRESSES_AT_ONCE = 10

/**
 * Push messages to browsers (Web Push) and apps (FCM). A subscriber may have several addresses: the message is sent to
 * all of them, and is accepted if one accepts it. Push services send no receipts, so an accepted message is delivered.
 */
export function createPush(raw: RawSettings, feed: Feed): CallingChannel {
  const settings = readSettings(raw)
  const pauses = createPauses()
  const webPush = settings.vapid && createWebPush(settings.vapid, settings, pauses)
  const fcm = settings.fcm && createFcm(settings.fcm, settings.timeoutMs, pauses)

  async function send(message: Outgoing): Promise<Sent> {
    const addresses = [...new Set(message.addresses)]
    if (addresses.length === 0) return refused('no subscription')

    const results = await sendToAll(addresses, message)
    const gone = addresses.filter((_, index) => results[index]?.kind === 'gone')
    await Promise.all(gone.map(address => tellGone(message, address)))
    return outcomeOf(results)
  }

  async function sendToAll(addresses: string[], message: Outgoing): Promise<PushResult[]> {
    const results: PushResult[] = []
    for (const some of piecesOf(addresses, ADDRESSES_AT_ONCE)) {
      results.push(...(await Promise.all(some.map(address => sendTo(address, message, timeOf(feed))))))
    }
    return results
  }

  async function sendTo(address: string, message: Outgoing, now: Date): Promise<PushResult> {
    const read = readAddress(address)
    if (read.kind === 'unreadable') return { kind: 'refused', reason: read.reason }
    if (read.kind === 'browser') return webPush?.send(read, message, now) ?? notServed('browsers')
    return fcm?.send(read.token, message, now) ?? notServed('apps')
  }

  /** If this cannot be stored, the next message to that address reports it again. */
  const tellGone = ({ companyId, channelType, senderName }: Outgoing, address: string) =>
    feed.gone({ companyId, channelType, senderName, address }).catch(() => {})

  return new CallingChannel({ window: settings.window, send })
}

const notServed = (whom: string): PushResult => ({ kind: 'refused', reason: `the gateway does not push to ${whom}` })

/**
 * One result for all addresses. An address that may have the message matters more than addresses to try again: another
 * attempt could show the message twice. A service that was not called says nothing about the state of the gateway.
 */
function outcomeOf(results: PushResult[]): Sent {
  if (results.some(({ kind }) => kind === 'accepted')) return { kind: 'accepted', delivered: true }
  const unknown = results.find(result => result.kind === 'unknown')
  if (unknown) return unknown
  const putOff = results.filter(isPutOff).toSorted((a, b) => a.retryAfterMs - b.retryAfterMs)
  const isUncalled = putOff.every(({ kind }) => kind === 'paused')
  if (putOff[0]) return { ...putOff[0], kind: isUncalled ? 'not called' : 'busy' }
  const { reason, operatorError } = results[0] as Result<'refused'>
  return refused(reason, operatorError)
}

type Result<K extends PushResult['kind']> = Extract<PushResult, { kind: K }>

const isPutOff = (result: PushResult): result is Result<'busy' | 'later' | 'paused'> =>
  ['busy', 'later', 'paused'].includes(result.kind)

const refused = (reason: string, operatorError?: string): SendResult => ({
  kind: 'refused',
  errorCode: errorCodes.refusedByChannel,
  reason,
  ...(operatorError === undefined ? {} : { operatorError }),
})
