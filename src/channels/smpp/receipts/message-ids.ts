import { isSameNumber } from '../../../base/phone/same-number.ts'

/**
 * How the ids in an operator's answers relate to the ids in its receipts. The same number may be hexadecimal in one and
 * decimal in the other, in capitals, or with leading zeros. We store the id of the answer in its plainest form, so that
 * receipts of older messages are still matched after a change of this setting. Only `exact` stores the id unchanged: after
 * a change to or from `exact`, receipts for ids with capitals or leading zeros are not matched. A search for both forms is
 * no solution, because with `exact` the other form may be the id of another message.
 *
 * - `exact`: character by character
 * - `same`: the same number system, but case and leading zeros may differ
 * - `hex-decimal`: hexadecimal in the answer, decimal in the receipt; `decimal-hex`: the other way round
 * - `auto`: found out from the receipts, never guessed
 */
export type IdRelation = 'exact' | 'same' | 'hex-decimal' | 'decimal-hex'
export type ReceiptIds = IdRelation | 'auto'

/** The first is the default. */
export const receiptIdSettings = ['auto', 'exact', 'same', 'hex-decimal', 'decimal-hex'] as const satisfies ReceiptIds[]

/** The stored form of the id of an answer. */
export const keptId = (id: string, setting: ReceiptIds): string => (setting === 'exact' ? id : plain(id))

/** Only ids that can be numbers are made plain: other ids may differ in case and zeros alone. */
const plain = (id: string) => (isHex(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id)

/** The longest id of the specification. The bound matters, because converting thousands of digits is slow. */
const isHex = (id: string) => /^[0-9a-f]{1,64}$/i.test(id)
const isDecimal = (id: string) => /^[0-9]{1,64}$/.test(id)

/** The stored id of the submission that a receipt names; undefined if the id of the receipt cannot be read this way. */
export function submittedId(id: string, relation: IdRelation): string | undefined {
  switch (relation) {
    case 'exact':
      return id
    case 'same':
      return plain(id)
    case 'hex-decimal':
      return isDecimal(id) ? BigInt(id).toString(16) : undefined
    case 'decimal-hex':
      return isHex(id) ? BigInt(`0x${id}`).toString(10) : undefined
  }
}

/** How an operator writes ids in receipts. `byAddress`: its receipts contain the destination of the message. */
export type LearntIds = { relation: IdRelation; byAddress: boolean }

/** The submission of a receipt: its stored id and, if another message may have the same id, its destination. */
export type NamedSubmission = { providerId: string; subscriber?: string }

export type MessageIds = {
  /** Notes the id of an answer. Returns the id to store. */
  submitted(id: string, destination: string): string
  /** Returns the submission of a receipt; undefined as long as the id has two possible readings. */
  receipted(id: string, subscriber: string): NamedSubmission | undefined
  /** Sets the reading that another process, or `id-evidence.ts`, has found out. */
  recall(learnt: LearntIds): void
  readonly isLearnt: boolean
}

export const CANDIDATES: IdRelation[] = ['same', 'hex-decimal', 'decimal-hex']

export const asCandidate = (relation: string): IdRelation | undefined => CANDIDATES.find(each => each === relation)

/** The submission id of a receipt if all readings agree; undefined if they differ. */
export function onlyReading(id: string): string | undefined {
  const readings = new Set(CANDIDATES.flatMap(relation => submittedId(id, relation) ?? []))
  return readings.size === 1 ? [...readings][0] : undefined
}

/** Whether the id of a receipt, in some reading, is the id of a submission. */
export const couldName = (id: string, keptId: string): boolean =>
  CANDIDATES.some(relation => submittedId(id, relation) === keptId)

/**
 * Operators count ids, and start again. So a short id may repeat, and the destination decides which message a receipt
 * belongs to. A long id does not repeat as long as we store it.
 */
const MOST_SHORT = 8

/** The submission of a receipt by a known reading; undefined if the id cannot be read this way. */
export function namedBy(id: string, subscriber: string | undefined, learnt: LearntIds): NamedSubmission | undefined {
  const providerId = submittedId(id, learnt.relation)
  if (providerId === undefined) return undefined
  const isShort = providerId.length <= MOST_SHORT
  return { providerId, ...(learnt.byAddress && isShort && subscriber !== undefined ? { subscriber } : {}) }
}

/** With `auto`, `onLearnt` gets the reading when it is found: once, or seldom again. */
export function createMessageIds(setting: ReceiptIds, onLearnt: (learnt: LearntIds) => void = () => {}): MessageIds {
  return setting === 'auto' ? new LearningMessageIds(onLearnt) : settled(setting)
}

const settled = (relation: IdRelation): MessageIds => ({
  submitted: id => keptId(id, relation),
  receipted: id => ({ providerId: submittedId(id, relation) ?? id }),
  recall() {},
  isLearnt: true,
})

/** After so many receipts that agree the reading is certain, and submissions are no longer remembered. */
const CERTAIN_AFTER = 50
const MOST_REMEMBERED = 20_000

/** The largest accepted probability of a wrong reading: by the id alone, and by the id together with the number. */
const MOST_CHANCE = 1e-7
const MOST_CHANCE_OF_BOTH = 1e-4

/**
 * Finds out the reading only from long ids, because a wrong reading of a long id is practically never the id of another
 * submission. For this it remembers the last submissions with their destinations. Short ids, for example of an operator
 * that counts from 1, stay unread here: `id-evidence.ts` decides about all receipts together.
 */
class LearningMessageIds implements MessageIds {
  readonly #onLearnt: (learnt: LearntIds) => void
  /** The destinations of submissions by their id, oldest first. */
  readonly #destinations = new Map<string, string>()
  readonly #countByLength = new Map<number, number>()
  #learnt: LearntIds | undefined
  #agreed = 0

  constructor(onLearnt: (learnt: LearntIds) => void) {
    this.#onLearnt = onLearnt
  }

  get isLearnt(): boolean {
    return this.#learnt !== undefined
  }

  recall(learnt: LearntIds): void {
    this.#learnt ??= learnt
  }

  submitted(id: string, destination: string): string {
    const kept = plain(id)
    if (!this.#isCertain()) this.#remember(kept, destination)
    return kept
  }

  receipted(id: string, subscriber: string): NamedSubmission | undefined {
    if (!isHex(id)) return { providerId: id }
    if (!this.#isCertain()) this.#learnFrom(id, subscriber)
    return this.#learnt && namedBy(id, subscriber, this.#learnt)
  }

  #isCertain(): boolean {
    return this.#agreed >= CERTAIN_AFTER
  }

  #remember(id: string, destination: string) {
    this.#forget(id)
    this.#destinations.set(id, destination)
    this.#count(id, 1)
    const [oldest] = this.#destinations.keys()
    if (oldest !== undefined && this.#destinations.size > MOST_REMEMBERED) this.#forget(oldest)
  }

  #forget(id: string) {
    if (this.#destinations.delete(id)) this.#count(id, -1)
  }

  #count(id: string, change: number) {
    this.#countByLength.set(id.length, (this.#countByLength.get(id.length) ?? 0) + change)
  }

  #learnFrom(id: string, subscriber: string) {
    const fitting = CANDIDATES.filter(relation => this.#destinations.has(submittedId(id, relation) ?? ''))
    const [relation] = fitting
    if (relation === undefined || fitting.length > 1) return
    const kept = submittedId(id, relation) ?? ''
    const byAddress = isSameNumber(this.#destinations.get(kept), subscriber)
    if (this.#chanceOf(kept) > (byAddress ? MOST_CHANCE_OF_BOTH : MOST_CHANCE)) return
    if (this.#learnt?.relation === relation) this.#agree()
    else this.#learn({ relation, byAddress })
  }

  /** The probability that a random id of this length is the id of a submission. */
  #chanceOf(kept: string): number {
    return (this.#countByLength.get(kept.length) ?? 0) / 10 ** kept.length
  }

  #agree() {
    this.#agreed++
    if (this.#isCertain()) this.#destinations.clear()
  }

  #learn(found: LearntIds) {
    this.#learnt = found
    this.#agreed = 1
    this.#onLearnt(found)
  }
}
