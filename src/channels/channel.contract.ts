import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from './channel.ts'

/** A channel under test, and the messages that reached its provider. */
export type Subject = {
  channel: Channel
  /** The uuids that reached the provider, in order, with repeats. */
  handed(): string[] | Promise<string[]>
}

export type SubjectOptions = {
  feed: Feed
  /** The time until a submission is answered. */
  answerMs?: number
}

/**
 * The promises of every channel. `open` starts a channel and its provider. `destinations` are numbers for which the
 * provider behaves as their names say. A channel without `undelivered` has no receipts: there, an accepted message is
 * always delivered. In other channels a receipt brings the final status of a message.
 */
export function channelContract(
  open: (options: SubjectOptions) => Promise<Subject>,
  destinations: { delivered: string; undelivered?: string; refused: string; busy: string },
  /** The fields that every message of this channel needs. */
  given: (destination: string) => Partial<Outgoing> = () => ({}),
) {
  const { undelivered } = destinations
  const opened: Channel[] = []
  const message = (destination: string): Outgoing => ({ ...aMessage(destination), ...given(destination) })
  const messages = (length: number, destination: string) => Array.from({ length }, () => message(destination))

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(channel => channel.stop()))
  })

  async function aSubject(given: Omit<SubjectOptions, 'feed'> & { feed?: Feed } = {}) {
    const subject = await open({ feed: aFeed(), ...given })
    opened.push(subject.channel)
    return subject
  }

  test('every message of a batch is submitted once and reported once', async () => {
    const { channel, handed } = await aSubject()
    const batch = messages(50, destinations.delivered)
    const reports = await submit(channel, batch)

    expect(reports.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(batch.map((_, index) => index))
    expect((await handed()).toSorted()).toEqual(batch.map(({ uuid }) => uuid).toSorted())
  })

  test('concurrent batches do not mix up their reports', async () => {
    const { channel } = await aSubject()
    const kinds = await Promise.all(
      [destinations.delivered, destinations.refused, destinations.delivered].map(async destination =>
        (await submit(channel, messages(10, destination))).map(({ result }) => result.kind),
      ),
    )
    expect(kinds).toEqual([Array(10).fill('accepted'), Array(10).fill('refused'), Array(10).fill('accepted')])
  })

  test('an empty batch resolves at once', async () => {
    const { channel } = await aSubject()
    expect(await submit(channel, [])).toEqual([])
  })

  test('a message that may no longer go is neither submitted nor reported', async () => {
    const { channel, handed } = await aSubject()
    const batch = messages(10, destinations.delivered)
    const reports = await submit(channel, batch, index => index % 2 === 0)

    expect(reports.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 2, 4, 6, 8])
    expect(await handed()).toHaveLength(5)
  })

  test('`mayGo` is called at the turn of a message, not when the batch is given', async () => {
    const { channel, handed } = await aSubject({ answerMs: 50 })
    let isAllowed = true
    const submitted = submit(channel, messages(channel.window + 1, destinations.delivered), () => isAllowed)
    isAllowed = false
    await submitted
    expect((await handed()).length).toBeLessThanOrEqual(channel.window)
  })

  test('an accepted message has an id for every part, or none', async () => {
    const { channel } = await aSubject()
    const whole = message(destinations.delivered)
    const inParts = whole.channelType === 'SMS' ? { ...whole, parts: 3, text: 'a'.repeat(400) } : whole
    const [report] = await submit(channel, [inParts])
    expect(report!.result.kind).toBe('accepted')
    const { providerIds } = report!.result as { providerIds?: string[] }
    if (providerIds) expect(new Set(providerIds).size).toBe(inParts.parts)
  })

  test('a refusal has an error code and a reason', async () => {
    const { channel } = await aSubject()
    const [report] = await submit(channel, [message(destinations.refused)])
    expect(report!.result).toMatchObject({ kind: 'refused', errorCode: expect.any(Number), reason: expect.any(String) })
  })

  test('a busy operator gives a time to retry, and accepts the message then', async () => {
    const { channel } = await aSubject()
    const busy = message(destinations.busy)
    const [first] = await submit(channel, [busy])
    expect(first!.result).toMatchObject({ kind: 'busy', reason: expect.any(String), retryAfterMs: expect.any(Number) })
    const [second] = await submit(channel, [{ ...busy, attempts: 1 }])
    expect(second!.result.kind).toBe('accepted')
  })

  if (undelivered === undefined) {
    test('an accepted message is delivered in the same result, and no receipt comes', async () => {
      const feed = aFeed()
      const { channel } = await aSubject({ feed })
      const reports = await submit(channel, messages(5, destinations.delivered))
      expect(reports.map(({ result }) => result)).toEqual(Array(5).fill({ kind: 'accepted', delivered: true }))
      await channel.stop()
      expect(feed.taken).toEqual([])
    })
  } else {
    test('receipts name the accepted messages, and no message is delivered before', async () => {
      const feed = aFeed()
      const { channel } = await aSubject({ feed })
      const [arriving, failing] = [message(destinations.delivered), message(undelivered)]
      const reports = await submit(channel, [arriving, failing])

      for (const { result } of reports) expect(result).not.toHaveProperty('delivered')
      await eventually(() => expect(feed.taken).toHaveLength(2))
      expect(feed.taken.find(receipt => names(receipt, arriving, reports[0]!.result))?.status).toBe('DELIVERED')
      expect(feed.taken.find(receipt => names(receipt, failing, reports[1]!.result))).toMatchObject({
        status: 'FAILED',
        errorCode: expect.any(Number),
        happenedAt: expect.any(Date),
      })
    })

    test('receipts that the feed rejected come again', async () => {
      const feed = aFeed({ refuses: 2 })
      const { channel } = await aSubject({ feed })
      await submit(channel, messages(5, destinations.delivered))
      await eventually(() => expect(feed.taken).toHaveLength(5))
    })
  }

  test('a stop waits for submitted messages and for receipts in the feed; afterwards nothing is submitted', async () => {
    const feed = aFeed({ takesMs: 100 })
    const { channel, handed } = await aSubject({ feed, answerMs: 100 })
    let isReported = false
    const submitted = submit(channel, messages(5, destinations.delivered)).then(() => {
      isReported = true
    })
    await pause(20)
    await channel.stop()
    await pause(0)
    expect({ isReported, taking: feed.taking() }).toEqual({ isReported: true, taking: 0 })
    await submitted

    const before = (await handed()).length
    expect(await submit(channel, messages(5, destinations.delivered))).toEqual([])
    expect((await handed()).length).toBe(before)
    expect(channel.health().up).toBe(false)
  })

  test('a stopped channel can be stopped again', async () => {
    const { channel } = await aSubject()
    await channel.stop()
    await channel.stop()
  })

  test('the channel is up and has a window', async () => {
    const { channel } = await aSubject()
    await eventually(() => expect(channel.health().up).toBe(true))
    expect(channel.window).toBeGreaterThan(0)
  })
}

type Report = { index: number; result: SendResult }

async function submit(channel: Channel, batch: Outgoing[], mayGo: (index: number) => boolean = () => true) {
  const reports: Report[] = []
  await channel.submit(batch, (index, result) => reports.push({ index, result }), mayGo)
  return reports
}

let count = 0

function aMessage(destination: string): Outgoing {
  const uuid = `01980000-0000-7000-8000-${String(++count).padStart(12, '0')}`
  return {
    companyId: 1,
    uuid,
    channelType: 'SMS',
    senderName: 'ROMASHKA',
    destination,
    text: 'Hello',
    parts: 1,
    attempts: 0,
  }
}

function names({ of }: Receipt, { uuid }: Outgoing, result: SendResult): boolean {
  if ('uuid' in of) return of.uuid === uuid
  return result.kind === 'accepted' && (result.providerIds ?? []).includes(of.providerId)
}

/** The same channel. Its `stop` also waits for `afterStop`. */
export const stoppingWith = (channel: Channel, afterStop: () => Promise<unknown>): Channel => ({
  window: channel.window,
  submit: (...given) => channel.submit(...given),
  health: () => channel.health(),
  async stop() {
    await channel.stop()
    await afterStop()
  },
})

/** Keeps the receipts; slow or failing on demand. */
export function aFeed({ refuses = 0, takesMs = 0 } = {}) {
  const taken: Receipt[] = []
  let refusals = refuses
  let taking = 0
  return {
    taken,
    taking: () => taking,
    async receipts(batch: Receipt[]) {
      taking += 1
      if (takesMs) await pause(takesMs)
      taking -= 1
      if (refusals-- > 0) throw new Error('not now')
      taken.push(...batch)
    },
    async inbound() {},
    async gone() {},
  }
}
