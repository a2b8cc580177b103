import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from './channel.ts'

/** What the other side of a channel under test does, and what it saw. */
export type Subject = {
  channel: Channel
  /** Uuids that reached the other side, in order, repeats included. */
  handed(): string[] | Promise<string[]>
}

export type SubjectOptions = {
  feed: Feed
  /** Time until a submission is answered. */
  answerMs?: number
}

/**
 * What every channel promises. `open` makes one with its other side; `destinations` are numbers for which that side
 * does what they are named after. A channel without `undelivered` is one whose other side tells nothing after it has
 * taken a message: there, taken is delivered, every time. Of any other, the end of a message comes by receipt.
 */
export function channelContract(
  open: (options: SubjectOptions) => Promise<Subject>,
  destinations: { delivered: string; undelivered?: string; refused: string; busy: string },
  /** What every message of this channel has beside what all have. */
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

  test('every message of a batch is handed over once and reported once', async () => {
    const { channel, handed } = await aSubject()
    const batch = messages(50, destinations.delivered)
    const reports = await submit(channel, batch)

    expect(reports.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(batch.map((_, index) => index))
    expect((await handed()).toSorted()).toEqual(batch.map(({ uuid }) => uuid).toSorted())
  })

  test('batches at once do not mix up their reports', async () => {
    const { channel } = await aSubject()
    const kinds = await Promise.all(
      [destinations.delivered, destinations.refused, destinations.delivered].map(async destination =>
        (await submit(channel, messages(10, destination))).map(({ result }) => result.kind),
      ),
    )
    expect(kinds).toEqual([Array(10).fill('accepted'), Array(10).fill('refused'), Array(10).fill('accepted')])
  })

  test('an empty batch is done at once', async () => {
    const { channel } = await aSubject()
    expect(await submit(channel, [])).toEqual([])
  })

  test('what may no longer go is neither handed over nor reported', async () => {
    const { channel, handed } = await aSubject()
    const batch = messages(10, destinations.delivered)
    const reports = await submit(channel, batch, index => index % 2 === 0)

    expect(reports.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 2, 4, 6, 8])
    expect(await handed()).toHaveLength(5)
  })

  test('what may go is asked when its turn comes, not when the batch is given', async () => {
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

  test('a busy operator says when to ask again, and takes it then', async () => {
    const { channel } = await aSubject()
    const busy = message(destinations.busy)
    const [first] = await submit(channel, [busy])
    expect(first!.result).toMatchObject({ kind: 'busy', reason: expect.any(String), retryAfterMs: expect.any(Number) })
    const [second] = await submit(channel, [{ ...busy, attempts: 1 }])
    expect(second!.result.kind).toBe('accepted')
  })

  if (undelivered === undefined) {
    test('what is accepted is delivered in the same word, and no receipt comes', async () => {
      const feed = aFeed()
      const { channel } = await aSubject({ feed })
      const reports = await submit(channel, messages(5, destinations.delivered))
      expect(reports.map(({ result }) => result)).toEqual(Array(5).fill({ kind: 'accepted', delivered: true }))
      await channel.stop()
      expect(feed.taken).toEqual([])
    })
  } else {
    test('receipts name what was accepted, and nothing is delivered before', async () => {
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

    test('receipts that were not taken are told again', async () => {
      const feed = aFeed({ refuses: 2 })
      const { channel } = await aSubject({ feed })
      await submit(channel, messages(5, destinations.delivered))
      await eventually(() => expect(feed.taken).toHaveLength(5))
    })
  }

  test('a stop waits for what is under way and for receipts being taken; afterwards nothing goes out', async () => {
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

  test('a stop of a stopped channel is nothing', async () => {
    const { channel } = await aSubject()
    await channel.stop()
    await channel.stop()
  })

  test('it is up and has a window', async () => {
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

/** Keeps the receipts it takes; slow or unwilling when told. */
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
