import { expect, test } from 'vitest'
import { compileTemplate, type TextTemplate } from '../../base/text-template.ts'
import { type NewMessage, rejection } from '../messages/message.ts'
import { emptyTally, judgeRecipients } from './intake.ts'

/** Judging alone, without a database: one sender for everyone. */
async function judge(count: number, template: TextTemplate, channelType: 'SMS' | 'VIBER' = 'SMS') {
  const recipients = Array.from({ length: count }, () => ({ destination: '79160000001', substitutions: { a: 'xyz' } }))
  const route = { senderId: 1, senderType: 'COMMON' as const, brand: 'MTS' }
  const tally = emptyTally()
  const desk = {
    intake: {
      channelType,
      trafficType: 'PROMO' as const,
      template,
      laterTexts: [],
      routing: { routeFor: () => route, lanes: [] },
      prices: { priceOf: () => ({ tariffId: null, perPart: 1n }) },
      blacklisted: new Set<string>(),
    },
    recipients,
    numbers: recipients.map(
      ({ destination }) => ({ kind: 'russian', digits: destination, brandId: 1, region: 0 }) as never,
    ),
    uuidOf: () => '00000000-0000-0000-0000-000000000000',
    firstPosition: 0,
    lanes: [{ laneId: 1, senderId: 1, brandId: 1, zone: null, tail: 0 }],
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
