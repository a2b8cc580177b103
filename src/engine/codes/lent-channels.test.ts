import { expect, test } from 'vitest'
import type { Outgoing, SendResult } from '../../channels/channel.ts'
import { eventually } from '../../testing/eventually.ts'
import { LentChannels } from './lent-channels.ts'
import { monotonicMs, type Request } from './protocol.ts'

type Submit = Extract<Request, { kind: 'submit' }>

function aLentChannel() {
  const posted: Submit[] = []
  const lent = new LentChannels(message => void posted.push(message as Submit))
  return { lent, posted, channel: lent.channelOf(7) }
}

const messages = ['a', 'b', 'c'].map(uuid => ({ uuid }) as Outgoing)

test('a gateway is up, and has a window, as the main thread said last', () => {
  const { lent, channel } = aLentChannel()
  expect([channel.health().up, channel.window]).toEqual([false, 0])
  lent.receive({ kind: 'gateways', states: [{ gatewayId: 7, up: true, window: 100 }] })
  expect([channel.health().up, channel.window]).toEqual([true, 100])
  lent.receive({ kind: 'gateways', states: [] })
  expect(channel.health().up).toBe(false)
})

test('results come back by the places of the batch', async () => {
  const { lent, posted, channel } = aLentChannel()
  const results = new Map<number, SendResult>()
  const submitted = channel.submit(
    messages,
    (index, result) => void results.set(index, result),
    index => index !== 1,
  )
  const [{ call, batch, gatewayId, latestAt }] = posted as [Submit]
  expect(gatewayId).toBe(7)
  expect(batch.map(({ uuid }) => uuid)).toEqual(['a', 'c'])
  expect(latestAt - monotonicMs()).toBeGreaterThan(0)
  expect(latestAt - monotonicMs()).toBeLessThanOrEqual(1000)
  lent.receive({ kind: 'result', call, index: 0, result: { kind: 'accepted', providerIds: ['16'] } })
  lent.receive({ kind: 'result', call, index: 1, result: { kind: 'accepted', providerIds: ['17'] } })
  lent.receive({ kind: 'answered', call })
  await submitted
  expect([...results]).toEqual([
    [0, { kind: 'accepted', providerIds: ['16'] }],
    [2, { kind: 'accepted', providerIds: ['17'] }],
  ])
})

test('while an operator is slow the time is extended, except for messages that must not go any more', async () => {
  const { lent, posted, channel } = aLentChannel()
  let isStopped = false
  const submitted = channel.submit(
    messages,
    () => {},
    index => index !== 2 || !isStopped,
  )
  const [{ call, latestAt }] = posted as [Submit]
  isStopped = true
  await eventually(() => expect(posted.length).toBeGreaterThan(1))
  expect(posted[1]).toMatchObject({ kind: 'extend', call, withdrawn: [2] })
  expect((posted[1] as Submit).latestAt).toBeGreaterThan(latestAt)
  lent.receive({ kind: 'answered', call })
  await submitted
})

test('a message that the main thread did not submit is busy, unless it must not go any more', async () => {
  const { lent, posted, channel } = aLentChannel()
  const results = new Map<number, SendResult>()
  let isStopped = false
  const submitted = channel.submit(
    messages,
    (index, result) => void results.set(index, result),
    index => index !== 2 || !isStopped,
  )
  const { call } = posted[0]!
  lent.receive({ kind: 'result', call, index: 0, result: { kind: 'accepted' } })
  isStopped = true
  lent.receive({ kind: 'answered', call })
  await submitted
  expect([...results].map(([index, { kind }]) => `${index} ${kind}`)).toEqual(['0 accepted', '1 busy'])
})

test('an error of the connection is passed on, and the messages without a result stay without one', async () => {
  const { lent, posted, channel } = aLentChannel()
  const results: number[] = []
  const submitted = channel.submit(
    messages,
    index => void results.push(index),
    () => true,
  )
  lent.receive({ kind: 'failed', call: posted[0]!.call, error: 'Error: broken' })
  await expect(submitted).rejects.toThrow('broken')
  expect(results).toEqual([])
})

test('a batch of which no message may go is not submitted', async () => {
  const { posted, channel } = aLentChannel()
  await channel.submit(
    messages,
    () => {},
    () => false,
  )
  expect(posted).toEqual([])
})

test('a channel stops when its open messages have their results', async () => {
  const { lent, posted, channel } = aLentChannel()
  void channel.submit(
    messages,
    () => {},
    () => true,
  )
  let isStopped = false
  const stopped = channel.stop().then(() => {
    isStopped = true
  })
  await new Promise(resolve => setImmediate(resolve))
  expect(isStopped).toBe(false)
  lent.receive({ kind: 'answered', call: posted[0]!.call })
  await stopped
})
