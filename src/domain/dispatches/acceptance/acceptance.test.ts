import { describe, expect, test } from 'vitest'
import type { ChannelType, TrafficType } from '../../../base/channel-types.ts'
import { compileTemplate, type TextTemplate } from '../../../base/content/text-template.ts'
import { type NewMessage, rejection } from '../../messages/message.ts'
import { compilePattern } from '../../templates/pattern.ts'
import { acceptRecipients } from './acceptance.ts'
import type { AcceptanceRules } from './acceptance-rules.ts'
import { emptyTally } from './tally.ts'

/** Accepts recipients without a database, with one sender for all of them. */
async function accept(
  count: number,
  template: TextTemplate,
  channelType: ChannelType = 'SMS',
  { a = 'xyz', ...given }: Partial<AcceptanceRules> & { a?: string } = {},
) {
  const recipients = Array.from({ length: count }, () => ({ destination: '79160000001', substitutions: { a } }))
  const route = { senderId: 1, senderType: 'COMMON' as const, brand: 'MTS' }
  const tally = emptyTally()
  const lanes = [{ laneId: 1, senderId: 1, brandId: 1, zone: null, tail: 0 }]
  const input = {
    rules: {
      channelType,
      trafficType: 'PROMO' as TrafficType,
      template,
      laterSteps: [],
      routing: { routeFor: () => route, lanes: [] },
      prices: {
        priceOf: ({ trafficType }: { trafficType: TrafficType }) => ({
          tariffId: null,
          perPart: trafficType === 'PROMO' ? 1n : 2n,
        }),
      },
      blacklisted: new Set<string>(),
      ...given,
    },
    recipients,
    numbers: recipients.map(
      ({ destination }) => ({ kind: 'russian', digits: destination, brandId: 1, region: 0 }) as never,
    ),
    uuidOf: () => '00000000-0000-0000-0000-000000000000',
    firstPosition: 0,
    lanes,
    defaultLanes: given.approvedTemplate ? [{ ...lanes[0]!, laneId: 2 }] : lanes,
  }
  const slices: NewMessage[][] = []
  for await (const slice of acceptRecipients(input, tally)) slices.push(slice)
  return { slices, tally, messages: slices.flat() }
}

const busyFor = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('slow recipients are accepted in slices of few recipients', async () => {
  const slow: TextTemplate = {
    names: [],
    render: () => {
      busyFor(4)
      return 'text'
    },
  }
  const turns = countTurns()
  const { slices, tally } = await accept(30, slow)
  expect(tally).toMatchObject({ total: 30, success: 30 })
  // Two recipients of 4 ms fit into 10 ms. The third ends after the limit.
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(3)
  expect(turns()).toBeGreaterThanOrEqual(slices.length - 1)
})

/** Counts turns of the event loop. The process serves other requests in each turn. */
function countTurns(): () => number {
  let turns = 0
  let next: NodeJS.Immediate
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  next = setImmediate(count)
  return () => {
    clearImmediate(next)
    return turns
  }
}

test('fast recipients are accepted in slices of at most a thousand, in their order', async () => {
  const { slices, messages } = await accept(2_500, { names: [], render: () => 'text' })
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(1000)
  expect(messages.map(({ position }) => position)).toEqual(messages.map((_, i) => i))
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, i) => i))
})

test.each([
  ['SMS', 1_530],
  ['VIBER', 4_096],
] as const)('a text in %s is rendered up to %i characters, and a longer text is rejected', async (channel, most) => {
  const asked: unknown[] = []
  const endless: TextTemplate = {
    names: [],
    render: (_, limit) => {
      asked.push(limit)
      return 'x'.repeat(limit! + 1)
    },
  }
  const { messages } = await accept(1, endless, channel)
  expect(asked).toEqual([most])
  expect(messages).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText, text: null, parts: 0 }])

  const fits = await accept(1, compileTemplate('{a}'.repeat(most / 3)), channel)
  expect(fits.messages[0]).toMatchObject({ status: 'CREATED', text: 'xyz'.repeat(most / 3) })
  const tooLong = await accept(1, compileTemplate(`{a}`.repeat(most)), channel)
  expect(tooLong.messages).toMatchObject([{ errorCode: rejection.badText }])
})

test.each([
  ['FLASHCALL', '{a}', '1234', '12345'],
  ['FLASHCALL', '{a}', '0007', 'Anna'],
  ['VOICECODE', 'Your code is {a}', '12-34', '123'],
  ['VK', '{a}', 'x'.repeat(2048), 'x'.repeat(2049)],
  ['TEXT_TO_SPEECH', '{a}', 'x'.repeat(1000), 'x'.repeat(1001)],
] as const)(
  'in %s the text %s accepts the value %.10s, and the recipient with %.10s is rejected',
  async (channel, text, good, bad) => {
    const { messages: accepted } = await accept(1, compileTemplate(text), channel, { a: good })
    expect(accepted).toMatchObject([{ status: 'CREATED', text: text.replace('{a}', good), parts: 1 }])
    const { messages: rejected } = await accept(1, compileTemplate(text), channel, { a: bad })
    expect(rejected).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText, text: null }])
  },
)

const linkBase = 'http://localhost/s'
const longLink = (length: number) => `https://shop.example.com/${'x'.repeat(length - 25)}`

test('a text that is too long only because of its link is accepted with the short link', async () => {
  const { messages } = await accept(1, compileTemplate('See {a} soon, {a}'), 'SMS', { a: longLink(2000), linkBase })
  expect(messages[0]!.text).toMatch(/^See http:\/\/localhost\/s\/(\w{10}) soon, http:\/\/localhost\/s\/\1$/)
})

test('a text that exceeds the limit before links are shortened is rejected', async () => {
  const { messages } = await accept(1, compileTemplate('See {a} soon, {a}'), 'SMS', { a: longLink(10_001), linkBase })
  expect(messages).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText }])
})

describe('in a dispatch with an approved template', () => {
  const template = {
    templateId: 7,
    channelType: 'SMS' as const,
    trafficType: 'TRANSACT' as const,
    pattern: 'Order %d is ready',
    validTo: null,
    senderName: null,
    content: null,
    compiled: compilePattern('Order %d is ready'),
  }
  const acceptWithTemplate = async (a: string) => {
    const given = { trafficType: 'TRANSACT' as const, approvedTemplate: template, a }
    const { messages, tally } = await accept(1, compileTemplate('Order {a} is ready'), 'SMS', given)
    return { ...messages[0]!, estimate: tally.estimate }
  }

  test('a text that matches gets the traffic type, the price and the lane of the template', async () => {
    expect(await acceptWithTemplate('17')).toMatchObject({
      status: 'CREATED',
      laneId: 1,
      estimate: 2n,
      matched: { trafficType: 'TRANSACT', templateId: 7 },
      content: null,
    })
  })

  test('a text that does not match gets no template, and the price and the lane of the default traffic type', async () => {
    expect(await acceptWithTemplate('17! 90% off everything')).toMatchObject({
      status: 'CREATED',
      laneId: 2,
      estimate: 1n,
      matched: { trafficType: 'PROMO', templateId: null },
      content: null,
    })
  })
})
