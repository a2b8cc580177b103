import { expect, test } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { CallingChannel, type Sent } from './calling-channel.ts'
import type { Channel, Outgoing, SendResult } from './channel.ts'

const accepted: Sent = { kind: 'accepted', providerIds: ['1'] }
const busy: Sent = { kind: 'busy', reason: 'not now', retryAfterMs: 100 }

test('all batches together never make more calls at once than the window', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 3, send: provider.send })
  const submitted = [submit(channel, 'a', 5), submit(channel, 'b', 5)]
  let most = 0
  while (provider.answered() < 10) {
    await eventually(() => expect(provider.open()).toBeGreaterThan(0))
    most = Math.max(most, provider.open())
    expect(channel.health().open).toBe(provider.open())
    provider.answer(accepted)
    await turnOfTheLoop()
  }
  await Promise.all(submitted)
  expect(most).toBe(3)
  expect(channel.health().open).toBe(0)
})

test('a smaller window resolves when no more calls are open, and a window of 0 delays all waiting messages', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 3, send: provider.send })
  const results: string[] = []
  const submitted = channel.submit(
    messages('a', 5),
    (_, { kind }) => results.push(kind),
    () => true,
  )
  let isSmaller = false
  const smaller = channel.setWindow(1).then(() => {
    isSmaller = true
  })
  provider.answer(accepted)
  await turnOfTheLoop()
  expect({ isSmaller, open: provider.open() }).toEqual({ isSmaller: false, open: 2 })
  provider.answer(accepted)
  await smaller
  const none = channel.setWindow(0)
  expect(results).toEqual(['accepted', 'accepted', 'busy', 'busy'])
  provider.answer(accepted)
  await Promise.all([none, submitted])
  expect(results).toEqual(['accepted', 'accepted', 'busy', 'busy', 'accepted'])
})

test('a stop does not wait for ever for an answer: the connector says what becomes of the message', async () => {
  const send = () => new Promise<never>(() => {})
  const unanswered = (_: Outgoing, reason: string): Sent => ({ kind: 'lost', reason })
  const channels = [{}, { unanswered }].map(more => new CallingChannel({ window: 1, send, drainMs: 10, ...more }))
  const results: SendResult[] = []
  const submitted = channels.map(channel =>
    channel.submit(
      messages('a', 2),
      (_, result) => results.push(result),
      () => true,
    ),
  )
  await Promise.all(channels.map(channel => channel.stop()))
  await Promise.all(submitted)
  expect(results.map(({ kind }) => kind)).toEqual(['unknown', 'lost'])
})

test('a code goes before the waiting messages of all other batches', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 1, send: provider.send })
  const submitted = Array.from({ length: 30 }, (_, i) => submit(channel, `batch ${i} `, 1))
  const code = messages('code ', 1).map(message => ({ ...message, isCode: true as const }))
  const sent = channel.submit(
    code,
    () => {},
    () => true,
  )
  await answerAll(provider, 2)
  await sent
  expect(provider.seen.slice(0, 2)).toEqual(['batch 0 0', 'code 0'])
  await answerAll(provider, 31)
  await Promise.all(submitted)
})

test('batches take turns in the order of their arrival', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 1, send: provider.send })
  const submitted = [submit(channel, 'a', 4), submit(channel, 'b', 1), submit(channel, 'c', 2), submit(channel, 'd', 2)]
  await answerAll(provider, 9)
  await Promise.all(submitted)
  expect(provider.seen).toEqual(['a0', 'b0', 'c0', 'd0', 'a1', 'c1', 'd1', 'a2', 'a3'])
})

test('a single message waits for one call, not for the large batch before it', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 1, send: provider.send })
  const bulk = submit(channel, 'bulk', 100)
  provider.answer(accepted)
  await turnOfTheLoop()
  const single = submit(channel, 'code', 1)
  await answerAll(provider, 3)
  expect(await single).toHaveLength(1)
  expect(provider.seen.indexOf('code0')).toBeLessThanOrEqual(2)
  await answerAll(provider, 101)
  await bulk
})

test('each result is reported with its index, as soon as it is known', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 10, send: provider.send })
  const reports: [number, string][] = []
  const submitted = channel.submit(
    messages('a', 3),
    (index, { kind }) => reports.push([index, kind]),
    () => true,
  )
  provider.answer(busy, 'a2')
  await eventually(() => expect(reports).toEqual([[2, 'busy']]))
  provider.answer({ kind: 'refused', errorCode: 456, reason: 'no' }, 'a0')
  provider.answer(accepted, 'a1')
  await submitted
  expect(reports).toEqual([
    [2, 'busy'],
    [0, 'refused'],
    [1, 'accepted'],
  ])
})

test('a provider that throttles is not called, and waiting messages are reported as busy', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 2, send: provider.send })
  const submitted = submit(channel, 'a', 10)
  provider.answer({ kind: 'throttled', reason: 'too fast', retryAfterMs: 60_000 })
  await eventually(() => expect(provider.open()).toBe(1))
  provider.answer(accepted)
  const reports = await submitted

  expect(provider.seen).toEqual(['a0', 'a1'])
  expect(reports.map(({ kind }) => kind).toSorted()).toEqual(['accepted', ...Array(9).fill('busy')])
  for (const report of reports) {
    if (report.kind !== 'busy') continue
    expect(report.reason).toBe('too fast')
    expect(report.retryAfterMs).toBeGreaterThan(0)
    expect(report.retryAfterMs).toBeLessThanOrEqual(60_000)
  }
  expect((await submit(channel, 'b', 1)).map(({ kind }) => kind)).toEqual(['busy'])
  expect(provider.seen).toHaveLength(2)
})

test('a channel is not up during the pause of a provider that throttles, so that other gateways are preferred', async () => {
  const sent: Sent[] = [{ kind: 'throttled', reason: 'too fast', retryAfterMs: 300 }]
  const channel = new CallingChannel({ window: 1, send: async () => sent.shift() ?? accepted })
  await submit(channel, 'a', 1)
  expect(channel.health()).toMatchObject({ up: false, lastError: 'too fast' })
  await eventually(() => expect(channel.health().up).toBe(true))
  expect((await submit(channel, 'b', 1)).map(({ kind }) => kind)).toEqual(['accepted'])
})

test('after the pause the provider is called again; a shorter pause does not replace a longer one', async () => {
  const sent: Sent[] = [
    { kind: 'throttled', reason: 'a while', retryAfterMs: 300 },
    { kind: 'throttled', reason: 'a moment', retryAfterMs: 1 },
  ]
  let calls = 0
  const channel = new CallingChannel({ window: 2, send: async () => sent[calls++] ?? accepted })
  await submit(channel, 'a', 2)
  const [next] = await submit(channel, 'b', 1)
  expect(next).toMatchObject({ kind: 'busy' })
  expect((next as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(1)
  await eventually(async () => expect((await submit(channel, 'c', 1))[0]!.kind).toBe('accepted'))
})

test('the channel is down after five failures in a row, and tries again after a while', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 1, send: provider.send })
  const fail = async (sent: Sent) => {
    const submitted = submit(channel, 'a', 1)
    provider.answer(sent)
    await submitted
  }
  const troubles: Sent[] = [
    busy,
    { kind: 'unknown', reason: 'no answer' },
    { kind: 'lost', reason: 'reset' },
    busy,
    { kind: 'throttled', reason: 'too fast', retryAfterMs: 0 },
  ]
  for (const trouble of troubles) {
    expect(channel.health().up).toBe(true)
    await fail(trouble)
  }
  expect(channel.health()).toMatchObject({ up: false, lastError: 'too fast' })
  await eventually(() => expect(channel.health().up).toBe(true))

  await fail(busy)
  expect(channel.health().up).toBe(false)
})

test('a message without a call is busy, and neither counts as a failure nor ends a row of failures', async () => {
  const notCalled: Sent = { kind: 'not called', reason: 'left alone', retryAfterMs: 700 }
  const sent: Sent[] = [busy, busy, busy, busy, ...Array<Sent>(5).fill(notCalled)]
  const channel = new CallingChannel({ window: 1, send: async () => sent.shift() ?? busy })
  const reports = await submit(channel, 'a', 9)
  expect(reports.at(-1)).toEqual({ kind: 'busy', reason: 'left alone', retryAfterMs: 700 })
  expect(channel.health()).toMatchObject({ up: true, lastError: 'not now' })
  await submit(channel, 'b', 1)
  expect(channel.health().up).toBe(false)
})

test.each<Sent>([accepted, { kind: 'refused', errorCode: 456, reason: 'no' }])(
  'a provider that answers is not down: $kind ends a row of failures',
  async answer => {
    const sent = [busy, busy, busy, busy, answer, busy, busy, busy, busy]
    const channel = new CallingChannel({ window: 1, send: async () => sent.shift()! })
    await submit(channel, 'a', 9)
    expect(sent).toEqual([])
    expect(channel.health().up).toBe(true)
  },
)

test('the last error has its time, and both stay after a recovery', async () => {
  const sent: Sent[] = [busy, accepted, { kind: 'unknown', reason: 'no answer' }]
  const channel = new CallingChannel({ window: 1, send: async () => sent.shift()! })
  expect(channel.health()).not.toHaveProperty('lastErrorAt')
  await submit(channel, 'a', 1)
  const trouble = channel.health()
  expect(trouble).toMatchObject({ lastError: 'not now', lastErrorAt: expect.any(Date) })
  await submit(channel, 'b', 1)
  expect(channel.health()).toEqual(trouble)
  await submit(channel, 'c', 1)
  expect(channel.health().lastError).toBe('no answer')
  expect(channel.health().lastErrorAt).not.toBe(trouble.lastErrorAt)
})

test.each([
  [
    'at once',
    () => {
      throw new TypeError('tok3n')
    },
  ],
  ['later', () => Promise.reject(new TypeError('tok3n'))],
  ['with no error at all', () => Promise.reject('tok3n')],
])('a connector that throws %s has an unknown result, without the message of the error', async (_, send) => {
  const channel = new CallingChannel({ window: 1, send })
  const [report] = await submit(channel, 'a', 1)
  expect(report).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('the connector failed') })
  expect(JSON.stringify([report, channel.health()])).not.toContain('tok3n')
})

test('a stop waits for running calls and drops waiting messages', async () => {
  const provider = aProvider()
  const order: string[] = []
  const channel = new CallingChannel({ window: 2, send: provider.send })
  const submitted = submit(channel, 'a', 10).then(reports => {
    order.push('submitted')
    return reports
  })
  const stopped = channel.stop().then(() => order.push('stopped'))
  expect(channel.health().up).toBe(false)
  await turnOfTheLoop()
  expect(order).toEqual([])

  provider.answer(accepted)
  provider.answer(busy)
  expect((await submitted).map(({ kind }) => kind)).toEqual(['accepted', 'busy'])
  await stopped
  expect(order).toEqual(['submitted', 'stopped'])
  expect(provider.seen).toEqual(['a0', 'a1'])
  expect(await submit(channel, 'b', 1)).toEqual([])
})

test('a second stop waits for the first', async () => {
  const provider = aProvider()
  const channel = new CallingChannel({ window: 1, send: provider.send })
  const submitted = submit(channel, 'a', 1)
  void channel.stop()
  let isStopped = false
  const stopped = channel.stop().then(() => {
    isStopped = true
  })
  await turnOfTheLoop()
  expect(isStopped).toBe(false)
  provider.answer(accepted)
  await Promise.all([submitted, stopped])
})

// The other side ----------------------------------------------------------------------------------------------------

/** A provider that answers on demand: the oldest call, or the given call. */
function aProvider() {
  const waiting: { text: string; resolve: (sent: Sent) => void }[] = []
  const seen: string[] = []
  let answers = 0
  return {
    seen,
    open: () => waiting.length,
    answered: () => answers,
    send: ({ text }: Outgoing) =>
      new Promise<Sent>(resolve => {
        seen.push(text)
        waiting.push({ text, resolve })
      }),
    answer(sent: Sent, text?: string) {
      const [call] = waiting.splice(text ? waiting.findIndex(call => call.text === text) : 0, 1)
      answers++
      call!.resolve(sent)
    },
  }
}

/** Answers calls until so many are answered in total. */
async function answerAll(provider: ReturnType<typeof aProvider>, count: number) {
  while (provider.answered() < count) {
    await eventually(() => expect(provider.open()).toBeGreaterThan(0))
    provider.answer(accepted)
    await turnOfTheLoop()
  }
}

const turnOfTheLoop = () => new Promise(resolve => setImmediate(resolve))

const messages = (name: string, count: number): Outgoing[] =>
  Array.from({ length: count }, (_, index) => ({
    companyId: 1,
    uuid: `01980000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    channelType: 'VIBER',
    senderName: 'ROMASHKA',
    destination: '79160000001',
    text: `${name}${index}`,
    parts: 1,
    attempts: 0,
  }))

async function submit(channel: Channel, name: string, count: number): Promise<SendResult[]> {
  const reports: SendResult[] = []
  await channel.submit(
    messages(name, count),
    (_, result) => reports.push(result),
    () => true,
  )
  return reports
}
