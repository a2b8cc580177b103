import { describe, expect, test } from 'vitest'
import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import { compileTemplate, type TextTemplate } from '../../base/text-template.ts'
import { type NewMessage, rejection } from '../messages/message.ts'
import { compilePattern } from '../templates/pattern.ts'
import { emptyTally, type Intake, judgeRecipients } from './intake.ts'

/** Judging alone, without a database: one sender for everyone. */
async function judge(
  count: number,
  template: TextTemplate,
  channelType: ChannelType = 'SMS',
  { a = 'xyz', ...given }: Partial<Intake> & { a?: string } = {},
) {
  const recipients = Array.from({ length: count }, () => ({ destination: '79160000001', substitutions: { a } }))
  const route = { senderId: 1, senderType: 'COMMON' as const, brand: 'MTS' }
  const tally = emptyTally()
  const lanes = [{ laneId: 1, senderId: 1, brandId: 1, zone: null, tail: 0 }]
  const desk = {
    intake: {
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
    usualLanes: given.heldTo ? [{ ...lanes[0]!, laneId: 2 }] : lanes,
  }
  const slices: NewMessage[][] = []
  for await (const slice of judgeRecipients(desk, tally)) slices.push(slice)
  return { slices, tally, messages: slices.flat() }
}

const busyFor = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('recipients that take long are worked through in slices of a few', async () => {
  const slow: TextTemplate = {
    names: [],
    render: () => {
      busyFor(4)
      return 'text'
    },
  }
  const turns = countTurns()
  const { slices, tally } = await judge(30, slow)
  expect(tally).toMatchObject({ total: 30, success: 30 })
  // Ten milliseconds hold two whole ones and the end of a third.
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(3)
  expect(turns()).toBeGreaterThanOrEqual(slices.length - 1)
})

/** Turns of the event loop: in each of them others are served. */
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

test('recipients that take no time are worked through a thousand at a time, in their order', async () => {
  const { slices, messages } = await judge(2_500, { names: [], render: () => 'text' })
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(1000)
  expect(messages.map(({ position }) => position)).toEqual(messages.map((_, i) => i))
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, i) => i))
})

test.each([
  ['SMS', 1_530],
  ['VIBER', 4_096],
] as const)('a text in %s is asked for up to %i characters, and refused when it is longer', async (channel, most) => {
  const asked: unknown[] = []
  const endless: TextTemplate = {
    names: [],
    render: (_, limit) => {
      asked.push(limit)
      return 'x'.repeat(limit! + 1)
    },
  }
  const { messages } = await judge(1, endless, channel)
  expect(asked).toEqual([most])
  expect(messages).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText, text: null, parts: 0 }])

  const fits = await judge(1, compileTemplate('{a}'.repeat(most / 3)), channel)
  expect(fits.messages[0]).toMatchObject({ status: 'CREATED', text: 'xyz'.repeat(most / 3) })
  const tooLong = await judge(1, compileTemplate(`{a}`.repeat(most)), channel)
  expect(tooLong.messages).toMatchObject([{ errorCode: rejection.badText }])
})

test.each([
  ['FLASHCALL', '{a}', '1234', '12345'],
  ['FLASHCALL', '{a}', '0007', 'Anna'],
  ['VOICECODE', 'Your code is {a}', '12-34', '123'],
  ['VK', '{a}', 'x'.repeat(2048), 'x'.repeat(2049)],
  ['TEXT_TO_SPEECH', '{a}', 'x'.repeat(1000), 'x'.repeat(1001)],
] as const)('in %s a text %s takes %.10s, and whoever has %.10s is refused', async (channel, text, good, bad) => {
  const { messages: taken } = await judge(1, compileTemplate(text), channel, { a: good })
  expect(taken).toMatchObject([{ status: 'CREATED', text: text.replace('{a}', good), parts: 1 }])
  const { messages: refused } = await judge(1, compileTemplate(text), channel, { a: bad })
  expect(refused).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText, text: null }])
})

const linkBase = 'http://localhost/s'
const longLink = (length: number) => `https://shop.example.com/${'x'.repeat(length - 25)}`

test('a text that is too long only for its link is sent whole, with the short one', async () => {
  const { messages } = await judge(1, compileTemplate('See {a} soon, {a}'), 'SMS', { a: longLink(2000), linkBase })
  expect(messages[0]!.text).toMatch(/^See http:\/\/localhost\/s\/(\w{10}) soon, http:\/\/localhost\/s\/\1$/)
})

test('a text that was not put together to its end is refused, however short it would become', async () => {
  const { messages } = await judge(1, compileTemplate('See {a} soon, {a}'), 'SMS', { a: longLink(10_001), linkBase })
  expect(messages).toMatchObject([{ status: 'FAILED', errorCode: rejection.badText }])
})

describe('in a dispatch that goes by a template', () => {
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
  const judgeHeld = async (a: string) => {
    const held = { trafficType: 'TRANSACT' as const, heldTo: template, a }
    const { messages, tally } = await judge(1, compileTemplate('Order {a} is ready'), 'SMS', held)
    return { ...messages[0]!, estimate: tally.estimate }
  }

  test('a text that fits has its type, price and place', async () => {
    expect(await judgeHeld('17')).toMatchObject({
      status: 'CREATED',
      laneId: 1,
      estimate: 2n,
      matched: { trafficType: 'TRANSACT', templateId: 7 },
      content: null,
    })
  })

  test('one that says something else is nothing special: no template, its own price and place', async () => {
    expect(await judgeHeld('17! 90% off everything')).toMatchObject({
      status: 'CREATED',
      laneId: 2,
      estimate: 1n,
      matched: { trafficType: 'PROMO', templateId: null },
      content: null,
    })
  })
})
