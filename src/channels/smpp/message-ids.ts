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
 * - `auto`: found out from the first receipts
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

export type MessageIds = {
  /** An answer came: gives the id to keep. */
  submitted(id: string, destination: string): string
  /** A receipt came: gives the id that was kept, or nothing while that cannot be told yet. */
  receipted(id: string, subscriber: string): string | undefined
  /** The best guess, for a receipt that cannot wait any longer. */
  guess(id: string): string
  /** Takes what was learnt by another: believed until the receipts say otherwise. */
  recall(relation: string): void
}

const CANDIDATES: IdRelation[] = ['same', 'hex-decimal', 'decimal-hex']
/** After so many receipts that agree, and none that does not, it is settled and nothing is remembered any more. */
const CERTAIN_AFTER = 50
const MOST_REMEMBERED = 20_000

/** `onLearnt` is told, when it is to be found out, what seems to be right from now on: once, or seldom. */
export function createMessageIds(setting: ReceiptIds, onLearnt: (relation: IdRelation) => void = () => {}): MessageIds {
  return setting === 'auto' ? findingOut(onLearnt) : settled(setting)
}

const settled = (relation: IdRelation): MessageIds => ({
  submitted: id => keptId(id, relation),
  receipted: id => submittedId(id, relation) ?? id,
  guess: id => submittedId(id, relation) ?? id,
  recall() {},
})

/**
 * Remembers what was submitted lately, with its destination, and holds receipts against it: a receipt votes for the
 * relation under which a submission to its subscriber is found. The destination must fit as well, because ids that
 * count upwards are all present in both number systems, and a wrong guess would end somebody else's message.
 */
function findingOut(onLearnt: (relation: IdRelation) => void): MessageIds {
  const remembered = new Map<string, string>()
  const votes = new Map<IdRelation, number>(CANDIDATES.map(relation => [relation, 0]))

  function submitted(id: string, destination: string) {
    const kept = plain(id)
    if (isCertain()) remembered.clear()
    else remember(kept, destination)
    return kept
  }

  function remember(id: string, destination: string) {
    remembered.set(id, destination)
    if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!)
  }

  function receipted(id: string, subscriber: string): string | undefined {
    const favourite = favoured()
    if (!isCertain()) {
      for (const relation of favourite ? [favourite, ...CANDIDATES] : CANDIDATES) {
        const kept = submittedId(id, relation)
        if (kept === undefined || !isSameNumber(remembered.get(kept), subscriber)) continue
        vote(relation)
        return kept
      }
    }
    return favourite && (submittedId(id, favourite) ?? plain(id))
  }

  function vote(relation: IdRelation) {
    const before = favoured()
    votes.set(relation, votes.get(relation)! + 1)
    if (favoured() !== before) onLearnt(favoured()!)
  }

  /** As good as one receipt: it names those of messages sent before our time, and two others outvote it. */
  function recall(learnt: string) {
    const relation = CANDIDATES.find(candidate => candidate === learnt)
    if (relation && total() === 0) votes.set(relation, 1)
  }

  const total = () => [...votes.values()].reduce((sum, count) => sum + count)
  const leader = () => CANDIDATES.reduce((a, b) => (votes.get(b)! > votes.get(a)! ? b : a))
  const favoured = () => (total() > 0 ? leader() : undefined)
  const isCertain = () => {
    const favourite = favoured()
    return favourite !== undefined && votes.get(favourite)! >= CERTAIN_AFTER && votes.get(favourite) === total()
  }

  return { submitted, receipted, recall, guess: id => submittedId(id, leader()) ?? plain(id) }
}

const COMPARED_DIGITS = 9

/** By the last digits: operators put "+", "8" or nothing in front of what we write with the country's code. */
function isSameNumber(a: string | undefined, b: string): boolean {
  return a !== undefined && a.slice(-COMPARED_DIGITS) === b.slice(-COMPARED_DIGITS)
}
