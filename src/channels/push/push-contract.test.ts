import { afterEach, describe, expect } from 'vitest'
import { fcmError, startFcm } from '../../testing/providers/fcm.ts'
import { fcmSettings, startBrowsers, vapidSettings } from '../../testing/providers/push-fixtures.ts'
import { channelContract, type SubjectOptions } from '../channel.contract.ts'
import { createPush } from './push.ts'

/** Push services never report the failure of an accepted message. */
const destinations = {
  delivered: '79160000001',
  refused: '79160000004',
  busy: '79160000009',
}

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

/** The addresses of the subscribers of the last channel. */
let addresses: Record<string, string> = {}
const given = (destination: string) => ({ channelType: 'PUSH' as const, addresses: [addresses[destination]!] })

describe('Web Push', () => {
  channelContract(
    async ({ feed, answerMs }: SubjectOptions) => {
      const service = await startBrowsers({ answerMs })
      atEnd.push(() => service.stop())
      const [delivered, refused, busy] = await Promise.all([
        service.subscribe(),
        service.subscribe(() => ({ status: 413 })),
        service.subscribe(call => (call === 0 ? { status: 503, headers: { 'retry-after': '1' } } : undefined)),
      ])
      addresses = {
        [destinations.delivered]: delivered.address,
        [destinations.refused]: refused.address,
        [destinations.busy]: busy.address,
      }
      const raw = { ...vapidSettings, allowInsecure: true, window: 20 }
      const channel = createPush(raw, feed)
      atEnd.unshift(() => expect(service.problems).toEqual([]))
      return { channel, handed: () => service.deliveries.map(({ payload }) => String(payload.messageUuid)) }
    },
    destinations,
    given,
  )
})

describe('FCM', () => {
  channelContract(
    async ({ feed, answerMs }: SubjectOptions) => {
      const fcm = await startFcm({ answerMs })
      atEnd.push(() => fcm.stop())
      addresses = Object.fromEntries(Object.entries(destinations).map(([name, number]) => [number, `fcm:${name}`]))
      fcm.answers.set('refused', () => fcmError('SENDER_ID_MISMATCH'))
      fcm.answers.set('busy', call => (call === 0 ? fcmError('QUOTA_EXCEEDED') : undefined))
      const raw = { ...fcmSettings(fcm), allowInsecure: true, window: 20 }
      const channel = createPush(raw, feed)
      atEnd.unshift(() => expect(fcm.problems).toEqual([]))
      return { channel, handed: () => fcm.taken.map(({ data }) => (data as Record<string, string>).messageUuid!) }
    },
    destinations,
    given,
  )
})
