import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isFreeText } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { type Channel, type Feed, type Outgoing, type Receipt, type SendResult, timeOf } from '../channel.ts'

/** The behaviour of simulated operators, except for the test numbers with a fixed behaviour. */
export type SimulatorSettings = {
  /** The time until a submission is answered. */
  submitMs?: number
  /** The receipt of an ordinary number comes after a random time up to this. */
  receiptMs?: number
  /** The share of refused, undelivered and busy messages, from 0 to 1. */
  refuseRate?: number
  failRate?: number
  busyRate?: number
  /** The operators give ids to messages, and receipts contain them, as with real operators. */
  ownIds?: boolean
  window?: number
}

/** The store of the simulated operators for accepted messages, outside of our own tables. */
export type Outbox = {
  keep(messages: Outgoing[]): Promise<void>
}

const DEFAULT_RECEIPT_MS = 500
const RECEIPTS_AT_ONCE = 2000
/** The most batches of receipts without an acknowledgement, like the window of an operator. */
const BATCHES_UNDER_WAY = 8
/** Receipts without an acknowledgement are sent again after this time. */
const TELL_AGAIN_MS = 500

/**
 * Simulated operators: they accept messages, store them in their outbox, and send receipts. The last four digits of a
 * number decide how its message ends.
 */
export function createSimulator(
  settings: SimulatorSettings,
  outbox: Outbox,
  feed: Feed,
): Channel & {
  /** Sends the receipts of a message that was accepted before a restart. */
  reportAgain(message: Pick<Outgoing, 'companyId' | 'uuid' | 'destination'>): void
} {
  const reporter = createReporter(settings, feed)
  const submitting = new Set<Promise<void>>()
  let stopped = false
  // The ids differ from the ids of earlier connections.
  const connection = randomBytes(6).toString('hex')
  let counter = 0
  const idsOf = (message: Outgoing) =>
    Array.from({ length: message.parts }, (_, part) => `${connection}-${++counter}-${part}`)

  async function submit(
    batch: Outgoing[],
    report: Parameters<Channel['submit']>[1],
    mayGo: (index: number) => boolean,
  ) {
    if (settings.submitMs) await pause(settings.submitMs)
    const results = batch.map((message, index) => (!stopped && mayGo(index) ? answerTo(message, settings) : undefined))
    const taken = batch.filter((_, index) => results[index]?.kind === 'accepted')
    if (taken.length > 0) await outbox.keep(taken)

    for (const [index, message] of batch.entries()) {
      const result = results[index]
      if (result && result.kind !== 'accepted') report(index, result)
      if (result?.kind !== 'accepted') continue
      const providerIds = settings.ownIds ? idsOf(message) : undefined
      const early = endingOf(message.destination) === '0007'
      if (early) reporter.report(message, providerIds)
      report(index, providerIds ? { kind: 'accepted', providerIds } : { kind: 'accepted' })
      if (!early) reporter.report(message, providerIds)
    }
  }

  return {
    window: settings.window ?? 5000,
    health: () => ({ up: !stopped }),
    reportAgain: message => reporter.report(message, undefined),

    submit(batch, report, mayGo) {
      const submitted = submit(batch, report, mayGo).finally(() => submitting.delete(submitted))
      submitting.add(submitted)
      return submitted
    },

    async stop() {
      stopped = true
      await Promise.allSettled(submitting)
      await reporter.stop()
    },
  }
}

const endingOf = (destination: string) => destination.slice(-4)

function answerTo(message: Outgoing, settings: SimulatorSettings): SendResult {
  const ending = endingOf(message.destination)
  if (ending === '0004') return { kind: 'refused', errorCode: errorCodes.refusedByChannel, reason: 'test number' }
  if (ending === '0009' && message.attempts === 0) return { kind: 'busy', reason: 'test number', retryAfterMs: 500 }
  if (ending === '0010' && hasNotWritten(message)) return { kind: 'refused', ...notWritten }
  if (isTestEnding(ending)) return { kind: 'accepted' }
  if (happens(settings.refuseRate))
    return { kind: 'refused', errorCode: errorCodes.refusedByChannel, reason: 'by chance' }
  if (happens(settings.busyRate)) return { kind: 'busy', reason: 'by chance', retryAfterMs: 200 }
  return { kind: 'accepted' }
}

/** WhatsApp refuses free texts to a subscriber who has not written within 24 hours; other channels have no such rule. */
const hasNotWritten = ({ channelType, content }: Outgoing) => channelType === 'WHATSAPP' && isFreeText(content)
const notWritten = { errorCode: errorCodes.refusedByChannel, reason: 'test number: has not written within 24 hours' }

const isTestEnding = (ending: string) => /^000[1-9]$/.test(ending)
const happens = (rate: number | undefined) => rate !== undefined && rate > 0 && Math.random() < rate

type Fate = { status: Receipt['status']; afterMs: number }[]

/** The receipts of an accepted message, with their delays. */
function fateOf(destination: string, settings: SimulatorSettings): Fate {
  switch (endingOf(destination)) {
    case '0001':
    case '0007':
    case '0009':
      return [{ status: 'DELIVERED', afterMs: 0 }]
    case '0002':
      return [{ status: 'DELIVERED', afterMs: 5000 }]
    case '0003':
      return [{ status: 'FAILED', afterMs: 0 }]
    case '0005':
      return []
    case '0006':
      return [
        { status: 'DELIVERED', afterMs: 0 },
        { status: 'DELIVERED', afterMs: 0 },
      ]
    case '0008':
      return [
        { status: 'DELIVERED', afterMs: 0 },
        { status: 'READ', afterMs: 1000 },
      ]
    default: {
      const afterMs = Math.random() * (settings.receiptMs ?? DEFAULT_RECEIPT_MS)
      return [{ status: happens(settings.failRate) ? 'FAILED' : 'DELIVERED', afterMs }]
    }
  }
}

/** Sends due receipts in batches. Receipts without a delay wait only for the end of the turn of the event loop. */
function createReporter(settings: SimulatorSettings, feed: Feed) {
  const due: Receipt[] = []
  let later: { at: number; receipt: Receipt }[] = []
  let timer: NodeJS.Timeout | undefined
  const delivering = new Set<Promise<void>>()
  let scheduled = false
  let stopped = false

  function report(message: Pick<Outgoing, 'companyId' | 'uuid' | 'destination'>, providerIds: string[] | undefined) {
    for (const { status, afterMs } of fateOf(message.destination, settings)) {
      const names: Receipt['of'][] = providerIds ? providerIds.map(providerId => ({ providerId })) : [message]
      for (const of of names) {
        const receipt: Receipt = {
          of: 'uuid' in of ? { companyId: of.companyId, uuid: of.uuid } : of,
          status,
          happenedAt: new Date(timeOf(feed).getTime() + afterMs),
          ...(status === 'FAILED' ? { errorCode: errorCodes.undelivered } : {}),
        }
        if (afterMs > 0) later.push({ at: performance.now() + afterMs, receipt })
        else due.push(receipt)
      }
    }
    schedule()
  }

  function schedule() {
    if (due.length > 0 && !scheduled && delivering.size < BATCHES_UNDER_WAY) {
      scheduled = true
      setImmediate(deliver)
    }
    if (later.length > 0 && !timer && !stopped) timer = setTimeout(collect, 50)
  }

  function collect() {
    timer = undefined
    const now = performance.now()
    for (const { at, receipt } of later) if (at <= now) due.push(receipt)
    later = later.filter(({ at }) => at > now)
    schedule()
  }

  function deliver() {
    scheduled = false
    if (stopped) return
    while (due.length > 0 && delivering.size < BATCHES_UNDER_WAY) {
      const receipts = due.splice(0, RECEIPTS_AT_ONCE)
      const batch = feed.receipts(receipts).catch(() => tellAgain(receipts))
      delivering.add(batch)
      void batch.then(() => {
        delivering.delete(batch)
        schedule()
      })
    }
  }

  function tellAgain(receipts: Receipt[]) {
    const at = performance.now() + TELL_AGAIN_MS
    for (const receipt of receipts) later.push({ at, receipt })
  }

  return {
    report,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await Promise.all(delivering)
    },
  }
}
