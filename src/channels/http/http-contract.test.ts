import { afterEach, describe, expect } from 'vitest'
import type { ChannelType } from '../../base/channel-types.ts'
import { errorBody, type FakeProviderOptions, startFakeProvider } from '../../testing/providers/http-provider.ts'
import { startReceiver } from '../../testing/providers/http-webhook-receiver.ts'
import { channelContract, type SubjectOptions, stoppingWith } from '../channel.contract.ts'
import { createHttpGateway } from './http.ts'

const destinations = {
  delivered: '79160000001',
  undelivered: '79160000003',
  refused: '79160000004',
  busy: '79160000009',
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const provider: FakeProviderOptions = {
  secret,
  reply({ destination }, before) {
    if (destination === destinations.refused) return { status: 422, body: errorBody('content', 'not this') }
    if (destination === destinations.busy && before === 0) return { status: 429, headers: { 'retry-after': '0' } }
  },
  tells: ({ destination }) => ({
    status: destination === destinations.undelivered ? 'failed' : 'delivered',
    at: new Date().toISOString(),
  }),
}

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

async function open({ feed, answerMs }: SubjectOptions) {
  const receiver = await startReceiver({ secret }, feed)
  const fake = await startFakeProvider({ ...provider, answerMs })
  atEnd.push(
    () => fake.stop(),
    () => receiver.close(),
    () => expect(fake.faults).toEqual([]),
  )
  const gateway = createHttpGateway({ url: fake.url, secret, statusUrl: receiver.url, window: 10 }, feed)
  const channel = stoppingWith(gateway, () => receiver.stop())
  return { channel, handed: () => fake.taken.map(({ id }) => id) }
}

describe.each<[ChannelType, string]>([
  ['SMS', 'Hello'],
  ['VIBER', 'Hello'],
  ['VOICECODE', 'Your code is 1234'],
])('%s over our JSON protocol', (channelType, text) => {
  channelContract(open, destinations, () => ({ channelType, text }))
})
