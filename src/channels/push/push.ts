import { errorCodes } from '../../base/error-codes.ts'
import { createCallingChannel } from '../calling-channel.ts'
import type { Channel, Feed, Outgoing, SendResult } from '../channel.ts'
import type { RawSettings } from '../settings.ts'
import { readAddress } from './addresses.ts'
import { createFcm } from './fcm.ts'
import type { PushResult } from './push-result.ts'
import { readSettings } from './settings.ts'
import { createTeller } from './teller.ts'
import { createWebPush } from './web-push.ts'

/** Nobody has so many devices; a list that long is a mistake, and is worked through a few at a time. */
const ADDRESSES_AT_ONCE = 10
const FULL_MS = 2000

/**
 * Push messages to browsers (Web Push) and apps (FCM). A subscriber may have several addresses: the message goes to
 * all of them, and is accepted when one took it. Push services tell the sender nothing further, so what they took
 * counts as delivered, and the channel writes the receipt itself.
 */
export function createPush(raw: RawSettings, feed: Feed): Channel {
  const settings = readSettings(raw)
  const webPush = settings.vapid && createWebPush(settings.vapid, settings)
  const fcm = settings.fcm && createFcm(settings.fcm, settings.timeoutMs)
  const teller = createTeller(feed)

  async function send(message: Outgoing): Promise<SendResult> {
    const addresses = [...new Set(message.addresses)]
    if (addresses.length === 0) return refused('no subscription')
    if (teller.isFull()) return { kind: 'busy', reason: 'receipts cannot be told just now', retryAfterMs: FULL_MS }

    const results = await sendToAll(addresses, message)
    for (const [index, result] of results.entries()) if (result.kind === 'gone') tellGone(message, addresses[index]!)
    const outcome = outcomeOf(results)
    if (outcome.kind === 'accepted') tellDelivered(outcome.providerIds![0]!)
    return outcome
  }

  async function sendToAll(addresses: string[], message: Outgoing): Promise<PushResult[]> {
    const results: PushResult[] = []
    for (let from = 0; from < addresses.length; from += ADDRESSES_AT_ONCE) {
      const some = addresses.slice(from, from + ADDRESSES_AT_ONCE)
      results.push(...(await Promise.all(some.map(address => sendTo(address, message, new Date())))))
    }
    return results
  }

  async function sendTo(address: string, message: Outgoing, now: Date): Promise<PushResult> {
    const read = readAddress(address)
    if (read.kind === 'unreadable') return { kind: 'refused', reason: read.reason }
    if (read.kind === 'browser') return webPush?.send(read, message, now) ?? notServed('browsers')
    return fcm?.send(read.token, message, now) ?? notServed('apps')
  }

  function tellGone({ companyId, channelType, senderName }: Outgoing, address: string) {
    teller.tellGone({ companyId, channelType, senderName, address })
  }

  function tellDelivered(providerId: string) {
    teller.tellReceipt({ of: { providerId }, status: 'DELIVERED', happenedAt: new Date() })
  }

  return createCallingChannel({ window: settings.window, send, stop: teller.stop })
}

const notServed = (whom: string): PushResult => ({ kind: 'refused', reason: `the gateway does not push to ${whom}` })

/**
 * One answer for all addresses. One that may have taken it outweighs those that would later: asking again could show
 * it there twice.
 */
function outcomeOf(results: PushResult[]): SendResult {
  const accepted = results.find(({ kind }) => kind === 'accepted') as Result<'accepted'> | undefined
  if (accepted) return { kind: 'accepted', providerIds: [accepted.providerId] }
  const unknown = results.find(({ kind }) => kind === 'unknown') as Result<'unknown'> | undefined
  if (unknown) return unknown
  const busy = results.filter((result): result is Result<'busy'> => result.kind === 'busy')
  if (busy.length > 0) return busy.reduce((first, other) => (other.retryAfterMs < first.retryAfterMs ? other : first))
  const { reason, operatorError } = results[0] as Result<'refused'>
  return refused(reason, operatorError)
}

type Result<K extends PushResult['kind']> = Extract<PushResult, { kind: K }>

const refused = (reason: string, operatorError?: string): SendResult => ({
  kind: 'refused',
  errorCode: errorCodes.refusedByChannel,
  reason,
  ...(operatorError === undefined ? {} : { operatorError }),
})
