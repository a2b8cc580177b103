import { errorCodes } from '../../base/error-codes.ts'
import type { Outgoing, SendResult } from '../channel.ts'
import { encodeText, type TextOptions, type TextPart } from './protocol/text.ts'

type Result<K extends SendResult['kind']> = Extract<SendResult, { kind: K }>

/** Stands for the id of a part that was submitted and will have no id: there was no answer, or an answer without an id. */
const NO_ID = Symbol('submitted, without an id')

/**
 * One message under way. For each part it knows the id under which the operator accepted the part, or that the part was
 * submitted and has no id, or neither if the part is still to be submitted. A message that is put off carries this in
 * `taken` (where '' stands for no id). With the next attempt, possibly by another process, only the other parts are
 * submitted.
 */
export class Submission {
  readonly message: Outgoing
  readonly #drafts: TextPart[]
  readonly #ids: (string | typeof NO_ID | undefined)[]
  #waiting = 0
  #submitted = 0
  #refused: Result<'refused'> | undefined
  #delayed: Result<'busy' | 'lost'> | undefined
  #withoutIdBecause: string | undefined

  /** Throws a RangeError if the text cannot be encoded. */
  constructor(message: Outgoing, options: TextOptions) {
    this.message = message
    this.#drafts = encodeText(message.text, referenceOf(message), options)
    // If the text is one part now and was several before, the settings have changed: then the whole text is still to go.
    const taken = this.#drafts.length === 1 ? undefined : message.taken
    this.#ids = this.#drafts.map((_, part) => (taken?.[part] === '' ? NO_ID : taken?.[part]))
  }

  get parts(): number {
    return this.#drafts.length
  }

  get isRefused(): boolean {
    return this.#refused !== undefined
  }

  /** No part waits, and no part is without an answer. */
  get isDone(): boolean {
    return this.#waiting === 0 && this.#submitted === 0
  }

  /** The parts that are still to be submitted; they wait from now on. */
  openParts(): number[] {
    const open = [...this.#ids.keys()].filter(part => this.#ids[part] === undefined)
    this.#waiting = open.length
    return open
  }

  draftOf(part: number): TextPart {
    const draft = this.#drafts[part]
    if (!draft) throw new Error(`a message of ${this.parts} parts has no part ${part}`)
    return draft
  }

  /** A waiting part is about to be submitted, or will not be submitted now. */
  stopWaiting(): void {
    this.#waiting--
  }

  startSubmitting(): void {
    this.#submitted++
  }

  endSubmitting(): void {
    this.#submitted--
  }

  accept(part: number, id: string): void {
    this.#ids[part] = id
  }

  acceptWithoutId(part: number, reason: string): void {
    this.#ids[part] = NO_ID
    this.#withoutIdBecause = reason
  }

  refuse(result: Omit<Result<'refused'>, 'kind'>): void {
    this.#refused = { kind: 'refused', ...result }
  }

  /** The connection ended before the answer; this matters more than a busy operator. */
  lose(reason: string): void {
    this.#delayed = { kind: 'lost', reason }
  }

  delay(busy: Result<'busy'>): void {
    if (this.#delayed?.kind !== 'lost') this.#delayed = busy
  }

  delayUnlessKnown(busy: Result<'busy'>): void {
    this.#delayed ??= busy
  }

  /**
   * One result for all parts. A refused part fails the message. A part that is still to be submitted delays it. A part
   * without an id makes the result unknown. The message is accepted when every part is.
   */
  result(): SendResult {
    if (this.#refused) return this.#refused
    if (this.#ids.includes(undefined)) return { ...this.#whyDelayed(), ...this.#taken() }
    if (this.#ids.includes(NO_ID)) return this.#unknown(this.#withoutIdBecause ?? 'a part had no answer before')
    return { kind: 'accepted', providerIds: this.#ids.filter(id => typeof id === 'string') }
  }

  #whyDelayed(): Result<'busy' | 'lost'> {
    if (!this.#delayed) throw new Error('a part of the message was not submitted, and there is no reason')
    return this.#delayed
  }

  /** Receipts will come for the accepted parts. If no part was accepted, there is no id to keep. */
  #unknown(reason: string): SendResult {
    const hasIds = this.#ids.some(id => id !== NO_ID)
    return { kind: 'unknown', reason, ...(hasIds ? this.#taken() : {}) }
  }

  #taken(): { taken?: Record<number, string> } {
    const taken = this.#ids.flatMap((id, part) => (id === undefined ? [] : [[part, id === NO_ID ? '' : id] as const]))
    return taken.length > 0 ? { taken: Object.fromEntries(taken) } : {}
  }
}

/** Taken from the uuid, so that every process gives the parts of a message the same reference. */
const referenceOf = ({ uuid }: Outgoing) => Number.parseInt(uuid.slice(-4), 16) || 0

export const notEncodable = (what: string): Omit<Result<'refused'>, 'kind'> => ({
  errorCode: errorCodes.refusedByChannel,
  reason: `cannot be encoded in SMPP: ${what}`,
})
