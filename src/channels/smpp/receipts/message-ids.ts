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

export const receiptIdSettings: readonly ReceiptIds[] = ['exact', 'same', 'hex-decimal', 'decimal-hex', 'auto']

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

/** After so many receipts that agree the reading is certain, and submissions are no longer remembered. */
const CERTAIN_AFTER = 50
const MOST_REMEMBERED = 20_000

/** With `auto`, `onLearnt` gets the reading when it is found: once, or seldom again. */
export function createMessageIds(setting: ReceiptIds, onLearnt: (learnt: LearntIds) => void = () => {}): MessageIds {
  return setting === 'auto' ? findingOut(onLearnt) : settled(setting)
}

const settled = (relation: IdRelation): MessageIds => ({
  submitted: id => keptId(id, relation),
  receipted: id => ({ providerId: submittedId(id, relation) ?? id }),
  recall() {},
  isLearnt: true,
})

/**
 * Finds out the reading only from long ids, because a wrong reading of a long id is practically never the id of another
 * submission. For this it remembers the last submissions with their destinations. Short ids, for example of an operator
 * that counts from 1, stay unread here: `id-evidence.ts` decides about all receipts together.
 */
function findingOut(onLearnt: (learnt: LearntIds) => void): MessageIds {
  const remembered = new Map<string, string>()
  const countByLength = new Map<number, number>()
  let learnt: LearntIds | undefined
  let agreed = 0

  const isCertain = () => agreed >= CERTAIN_AFTER

  function submitted(id: string, destination: string) {
    const kept = plain(id)
    if (!isCertain()) remember(kept, destination)
    return kept
  }

  function remember(id: string, destination: string) {
    forget(id)
    remembered.set(id, destination)
    count(id, 1)
    const [oldest] = remembered.keys()
    if (oldest !== undefined && remembered.size > MOST_REMEMBERED) forget(oldest)
  }

  function forget(id: string) {
    if (remembered.delete(id)) count(id, -1)
  }

  const count = (id: string, change: number) =>
    countByLength.set(id.length, (countByLength.get(id.length) ?? 0) + change)

  function receipted(id: string, subscriber: string): NamedSubmission | undefined {
    if (!isHex(id)) return { providerId: id }
    if (!isCertain()) learnFrom(id, subscriber)
    return learnt && namedBy(id, subscriber, learnt)
  }

  function learnFrom(id: string, subscriber: string) {
    const fitting = CANDIDATES.filter(relation => remembered.has(submittedId(id, relation) ?? ''))
    const [relation] = fitting
    if (relation === undefined || fitting.length > 1) return
    const kept = submittedId(id, relation) ?? ''
    const byAddress = isSameNumber(remembered.get(kept), subscriber)
    if (chanceOf(kept) > (byAddress ? MOST_CHANCE_OF_BOTH : MOST_CHANCE)) return
    if (learnt?.relation === relation) agree()
    else learn({ relation, byAddress })
  }

  /** The probability that a random id of this length is the id of a submission. */
  const chanceOf = (kept: string) => (countByLength.get(kept.length) ?? 0) / 10 ** kept.length

  function agree() {
    agreed++
    if (isCertain()) remembered.clear()
  }

  function learn(found: LearntIds) {
    learnt = found
    agreed = 1
    onLearnt(found)
  }

  return {
    submitted,
    receipted,
    recall(told) {
      learnt ??= told
    },
    get isLearnt() {
      return learnt !== undefined
    },
  }
}

/** The largest accepted probability of a wrong reading: by the id alone, and by the id together with the number. */
const MOST_CHANCE = 1e-7
const MOST_CHANCE_OF_BOTH = 1e-4
