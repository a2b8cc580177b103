import { describe, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { aFeed, channelContract } from '../channel.contract.ts'
import type { Outgoing, SendResult } from '../channel.ts'
import type { RawSettings } from '../settings.ts'
import { Simulator } from './simulator.ts'

const destinations = {
  delivered: '79160000001',
  undelivered: '79160000003',
  refused: '79160000004',
  busy: '79160000009',
}

function aSimulator(settings: RawSettings, feed = aFeed()) {
  const handed: Outgoing[] = []
  const channel = new Simulator(
    settings,
    {
      async keep(messages) {
        handed.push(...messages)
      },
    },
    feed,
  )
  return { channel, handed, feed }
}

describe.each([
  ['that name our ids', {}],
  ['with ids of their own', { ownIds: true }],
])('simulated operators %s', (_, settings) => {
  channelContract(async ({ feed, answerMs }) => {
    const handed: string[] = []
    const outbox = {
      async keep(messages: Outgoing[]) {
        handed.push(...messages.map(({ uuid }) => uuid))
      },
    }
    const channel = new Simulator(
      { ...settings, window: 20, ...(answerMs ? { submitMs: answerMs } : {}) },
      outbox,
      feed,
    )
    return { channel, handed: () => handed }
  }, destinations)
})

const aMessage = (given: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 1,
  uuid: '01980000-0000-7000-8000-000000000001',
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  destination: '79161234577',
  text: 'Hello',
  parts: 1,
  attempts: 0,
  ...given,
})

async function resultsOf(channel: Simulator, batch: Outgoing[]) {
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

test('after a new connection the operator gives no id a second time', async () => {
  const results = [aSimulator({ ownIds: true }), aSimulator({ ownIds: true })].map(({ channel }) =>
    resultsOf(channel, [aMessage()]),
  )
  const [[first], [second]] = (await Promise.all(results)) as [[SendResult], [SendResult]]
  expect(first).toMatchObject({ kind: 'accepted', providerIds: [expect.any(String)] })
  expect(second).not.toEqual(first)
})

test('a message of three parts has a receipt for each part', async () => {
  const { channel, feed } = aSimulator({ ownIds: true, receiptMs: 10 })
  const [result] = await resultsOf(channel, [aMessage({ parts: 3 })])
  await eventually(() => expect(feed.taken).toHaveLength(3))
  expect(feed.taken.map(({ of }) => (of as { providerId: string }).providerId)).toEqual(
    (result as { providerIds: string[] }).providerIds,
  )
})

test('the number 0010 has not written: WhatsApp accepts templates and codes for it, and no free text', async () => {
  const { channel } = aSimulator({})
  const to = (given: Partial<Outgoing>) => aMessage({ destination: '79160000010', ...given })
  const whatsapp = (content: NonNullable<Outgoing['content']>) => to({ channelType: 'WHATSAPP', content })
  const results = await resultsOf(channel, [
    to({ channelType: 'WHATSAPP' }),
    whatsapp({ contentType: 'text', text: 'Hello' }),
    whatsapp({ contentType: 'text', text: 'Hello', template: { templateId: 'hello' } }),
    whatsapp({ contentType: 'template', templateId: 'hello' }),
    whatsapp({ contentType: 'authentication', code: '4321' }),
    to({ channelType: 'SMS' }),
    to({ channelType: 'VIBER' }),
  ])
  const kinds = results.map(result => (result?.kind === 'refused' ? result.errorCode : result?.kind))
  expect(kinds).toEqual([456, 456, 'accepted', 'accepted', 'accepted', 'accepted', 'accepted'])
  await channel.stop()
})

test('rates decide at random: all refused, all busy, all undelivered', async () => {
  const batch = Array.from({ length: 20 }, () => aMessage())
  const kindsOf = async (settings: RawSettings) =>
    new Set((await resultsOf(aSimulator(settings).channel, batch)).map(({ kind }) => kind))
  expect(await kindsOf({ refuseRate: 1 })).toEqual(new Set(['refused']))
  expect(await kindsOf({ busyRate: 1 })).toEqual(new Set(['busy']))

  const { channel, feed } = aSimulator({ failRate: 1, receiptMs: 0 })
  await resultsOf(channel, batch)
  await eventually(() => expect(feed.taken.map(({ status }) => status)).toEqual(Array(20).fill('FAILED')))
})

test('a restarted operator sends receipts of messages that it accepted before, with our id', async () => {
  const { channel, feed } = aSimulator({ ownIds: true, receiptMs: 0 })
  const { companyId, uuid } = aMessage()
  channel.reportAgain(aMessage())
  await eventually(() => expect(feed.taken).toMatchObject([{ of: { companyId, uuid }, status: 'DELIVERED' }]))
})
