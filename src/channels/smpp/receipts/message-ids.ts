import { isSameNumber } from '../../../base/same-number.ts'

/**
 * How the ids of an operator's answers relate to those of its receipts. The same number may stand there in
 * hexadecimal and here in decimal, in capitals, with leading zeros. What we keep and look up is the id of the answer
 * in its plainest form, so that a change of this setting does not orphan what was sent before it. Only `exact` keeps
 * it as it is: a change to or from it orphans those with capitals or leading zeros. To look for both forms would not
 * do, for where `exact` is needed the other form may be somebody else's.
 *
 * - `exact`: letter by letter
 * - `same`: the same number system, but case and leading zeros may differ
 * - `hex-decimal`: hexadecimal in the answer, decimal in the receipt; `decimal-hex`: the other way round
 * - `auto`: found out from the receipts, and never guessed
 */
export type IdRelation = 'exact' | 'same' | 'hex-decimal' | 'decimal-hex'
export type ReceiptIds = IdRelation | 'auto'

export const receiptIdSettings: readonly ReceiptIds[] = ['exact', 'same', 'hex-decimal', 'decimal-hex', 'auto']

/** The id of an answer, in the form that is kept. */
export const keptId = (id: string, setting: ReceiptIds): string => (setting === 'exact' ? id : plain(id))

/** Only what can be a number is made plain: in other ids, case and zeros may be all that tells two apart. */
const plain = (id: string) => (isHex(id) ? id.toLowerCase().replace(/^0+(?=.)/, '') : id)

/** As long as the specification lets ids be: turning a number of thousands of digits around takes its time. */
const isHex = (id: string) => /^[0-9a-f]{1,64}$/i.test(id)
const isDecimal = (id: string) => /^[0-9]{1,64}$/.test(id)

/** The id of a receipt, as the answer to its submission would have had it; nothing when it could not have. */
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

/** How an operator writes ids in its receipts, and whether these name the number that the message went to. */
export type LearntIds = { relation: IdRelation; byAddress: boolean }

/** The submission that a receipt is about: its kept id and, where another may have the same, the number it went to. */
export type NamedSubmission = { providerId: string; subscriber?: string }

export type MessageIds = {
  /** An answer came: gives the id to keep. */
  submitted(id: string, destination: string): string
  /** A receipt came: gives the submission it is about, or nothing as long as its id could be read in two ways. */
  receipted(id: string, subscriber: string): NamedSubmission | undefined
  /** Takes what another process has found out, or this one has by other means. */
  recall(learnt: LearntIds): void
  readonly isLearnt: boolean
}

export const CANDIDATES: IdRelation[] = ['same', 'hex-decimal', 'decimal-hex']

export const asCandidate = (relation: string): IdRelation | undefined => CANDIDATES.find(each => each === relation)

/** The id of a receipt when every reading comes to the same; nothing when they differ. */
export function onlyReading(id: string): string | undefined {
  const readings = new Set(CANDIDATES.flatMap(relation => submittedId(id, relation) ?? []))
  return readings.size === 1 ? [...readings][0] : undefined
}

/** Whether the id of a receipt, in some reading, is that of a submission. */
export const couldName = (id: string, keptId: string): boolean =>
  CANDIDATES.some(relation => submittedId(id, relation) === keptId)

/**
 * Operators count, and begin again: a short id comes back, and then the number decides whose receipt it is. A long one
 * is never used again in the time that we remember it.
 */
const MOST_SHORT = 8

/** The submission that a receipt names, once the reading is known; nothing when the id cannot be read so. */
export function namedBy(id: string, subscriber: string | undefined, learnt: LearntIds): NamedSubmission | undefined {
  const providerId = submittedId(id, learnt.relation)
  if (providerId === undefined) return undefined
  const isShort = providerId.length <= MOST_SHORT
  return { providerId, ...(learnt.byAddress && isShort && subscriber !== undefined ? { subscriber } : {}) }
}

/** After so many receipts that agree it is settled, and nothing is remembered any more. */
const CERTAIN_AFTER = 50
const MOST_REMEMBERED = 20_000

/** `onLearnt` is told, when it is to be found out, what is right from now on: once, or seldom. */
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
 * Finds out by itself only where no chance could deceive it: ids so long that a wrong reading of one practically never
 * is the id of another submission. Remembers for that what was submitted lately, with its destination. Short ids, such as
 * those of an operator that counts from 1, are left unread here: `id-evidence.ts` decides over all receipts together.
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
    if (remembered.size > MOST_REMEMBERED) forget(remembered.keys().next().value!)
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
    const kept = submittedId(id, relation)!
    const byAddress = isSameNumber(remembered.get(kept), subscriber)
    if (chanceOf(kept) > (byAddress ? MOST_CHANCE_OF_BOTH : MOST_CHANCE)) return
    if (learnt?.relation === relation) agree()
    else learn({ relation, byAddress })
  }

  /** How likely an id of this length, taken at random, is one that was submitted. */
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

/** That a wrong reading hits an id by chance; and that it does, and the number is right as well. */
const MOST_CHANCE = 1e-7
const MOST_CHANCE_OF_BOTH = 1e-4
