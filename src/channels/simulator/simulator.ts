import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isFreeText } from '../../base/content/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { Channel, Feed, Health, Outgoing, SendResult } from '../channel.ts'
import type { RawSettings } from '../settings.ts'
import { endingOf, happens } from './planned-receipts.ts'
import { ReceiptSender, type SimulatedMessage } from './receipt-sender.ts'
import { readSettings, type SimulatorSettings } from './settings.ts'

/** The store of the simulated operators for accepted messages, outside of our own tables. */
export type Outbox = {
  keep(messages: Outgoing[]): Promise<void>
}

type Report = Parameters<Channel['submit']>[1]

/**
 * Simulated operators: they accept messages, store them in their outbox, and send receipts. The last four digits of a
 * number decide how its message ends.
 */
export class Simulator implements Channel {
  readonly #settings: SimulatorSettings
  readonly #outbox: Outbox
  readonly #receipts: ReceiptSender
  readonly #submitting = new Set<Promise<void>>()
  /** The ids differ from the ids of earlier connections. */
  readonly #connection = randomBytes(6).toString('hex')
  #lastId = 0
  #isStopped = false

  constructor(raw: RawSettings, outbox: Outbox, feed: Feed) {
    this.#settings = readSettings(raw)
    this.#outbox = outbox
    this.#receipts = new ReceiptSender(this.#settings, feed)
  }

  get window(): number {
    return this.#settings.window
  }

  /** The longest time from the submission to the receipt of an ordinary number. */
  get receiptSeconds(): number {
    return this.#settings.receiptMs / 1000
  }

  health(): Health {
    return { up: !this.#isStopped }
  }

  submit(...given: Parameters<Channel['submit']>): Promise<void> {
    const submitted = this.#submit(...given).finally(() => this.#submitting.delete(submitted))
    this.#submitting.add(submitted)
    return submitted
  }

  /** Sends the receipts of a message that was accepted before a restart. */
  reportAgain(message: SimulatedMessage): void {
    this.#receipts.send(message, undefined)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.allSettled(this.#submitting)
    await this.#receipts.stop()
  }

  async #submit(batch: Outgoing[], report: Report, mayGo: (index: number) => boolean) {
    if (this.#settings.submitMs) await pause(this.#settings.submitMs)
    const results = batch.map((message, index) =>
      !this.#isStopped && mayGo(index) ? answerTo(message, this.#settings) : undefined,
    )
    const accepted = batch.filter((_, index) => results[index]?.kind === 'accepted')
    if (accepted.length > 0) await this.#outbox.keep(accepted)

    for (const [index, message] of batch.entries()) {
      const result = results[index]
      if (result?.kind === 'accepted') this.#accept(message, answer => report(index, answer))
      else if (result) report(index, result)
    }
  }

  /** The receipt of the number 0007 comes before the answer. */
  #accept(message: Outgoing, report: (result: SendResult) => void) {
    const providerIds = this.#settings.ownIds ? this.#idsOf(message) : undefined
    const isEarly = endingOf(message.destination) === '0007'
    if (isEarly) this.#receipts.send(message, providerIds)
    report(providerIds ? { kind: 'accepted', providerIds } : { kind: 'accepted' })
    if (!isEarly) this.#receipts.send(message, providerIds)
  }

  #idsOf({ parts }: Outgoing): string[] {
    return Array.from({ length: parts }, (_, part) => `${this.#connection}-${++this.#lastId}-${part}`)
  }
}

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
