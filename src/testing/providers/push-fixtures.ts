import { createECDH } from 'node:crypto'
import type { Channel, Feed, Gone, Outgoing, SendResult } from '../../channels/channel.ts'
import type { FakeFcm } from './fcm.ts'
import { type FakePushOptions, startPushService } from './push-service.ts'

/** Shared by the tests of push messages. */

const own = createECDH('prime256v1')
own.generateKeys()
/** Adds the leading zeros that Node leaves out. One key in 256 has them. */
const secret = Buffer.concat([Buffer.alloc(32), own.getPrivateKey()]).subarray(-32)

export const vapidSettings = {
  vapidPublicKey: own.getPublicKey('base64url'),
  vapidPrivateKey: secret.toString('base64url'),
  vapidSubject: 'mailto:push@tidings.example',
}

export const startBrowsers = (options: Partial<FakePushOptions> = {}) =>
  startPushService({
    applicationServerKey: vapidSettings.vapidPublicKey,
    subject: vapidSettings.vapidSubject,
    ...options,
  })

export const fcmSettings = ({ url, serviceAccount }: FakeFcm) => ({
  fcmServiceAccount: JSON.stringify(serviceAccount),
  fcmBaseUrl: url,
})

let count = 0

export function aPush(addresses: string[], given: Partial<Outgoing> = {}): Outgoing {
  return {
    companyId: 1,
    uuid: `01980000-0000-7000-8000-${String(++count).padStart(12, '0')}`,
    channelType: 'PUSH',
    senderName: 'Camomile',
    destination: '79160000001',
    text: 'Your order is ready',
    parts: 1,
    attempts: 0,
    addresses,
    ...given,
  }
}

/** The results in the order of the messages. */
export async function sendAll(channel: Channel, batch: Outgoing[]): Promise<SendResult[]> {
  const results: SendResult[] = []
  await channel.submit(
    batch,
    (index, result) => {
      results[index] = result
    },
    () => true,
  )
  return results
}

export const sendOne = async (channel: Channel, message: Outgoing) => (await sendAll(channel, [message]))[0]!

/** Records addresses that are reported as gone, after this number of `refusals`. Push messages have no receipts. */
export function aListener({ refusals = 0 } = {}): Feed & { toldGone: Gone[] } {
  const toldGone: Gone[] = []
  let refusalsLeft = refusals
  return {
    toldGone,
    async receipts() {
      throw new Error('a push has no receipts')
    },
    async inbound() {},
    async gone(address) {
      if (refusalsLeft-- > 0) throw new Error('not now')
      toldGone.push(address)
    },
  }
}
