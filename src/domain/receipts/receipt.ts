import { isSameNumber } from '../../base/phone/same-number.ts'

/** What an operator reported, by its own id of a part. */
export type ProviderReceipt = {
  providerId: string
  /** Our uuid, where the operator repeats it: a message whose submission was not answered was kept under it. */
  ownId?: string | null
  /** The operator's id as it came: it can be read in two ways, and is no id of a submission yet. */
  isUnread?: boolean
  /** The number that it is about: the receipt is for no message to another. */
  subscriber?: string | null
  /**
   * A message whose answer is not recorded yet may be meant. If the receipt names a message now, other than `unless`, it
   * is kept and looked up again after this time.
   */
  unsure?: { forMs: number; unless?: string }
  /** When it came, for one that was kept. */
  receivedAt?: Date
  /** It has been kept for a while: whatever was submitted before it came is written down. */
  isOld?: boolean
  /** Who has read a message has got it. */
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode: number | null
  /** The operator's own word for a failure. */
  operatorError?: string | null
  happenedAt: Date
}

/** Where a message went, whether it has no end yet, and the time before which it was surely not submitted. */
export type Addressee = { destination: string; isOpen: boolean; since: Date }

/**
 * Of the submissions under the id of a receipt, the one that it is about. It must have gone to the receipt's number, not
 * after the receipt came, and be the only one there that has no end yet: where two could be meant, the receipt waits until
 * one of them has its end. Where all have their end, it is a repeated one; or its submission is not written down yet, so
 * it waits for a while.
 */
export function submissionTo<S extends { uuid: string; part: number }>(
  { subscriber, receivedAt, isOld }: Pick<ProviderReceipt, 'subscriber' | 'receivedAt' | 'isOld'>,
  submissions: S[],
  messages: ReadonlyMap<string, Addressee>,
): S | undefined {
  const fitting = submissions.filter(({ uuid }) => {
    const message = messages.get(uuid)
    const isLater = receivedAt !== undefined && message !== undefined && message.since > receivedAt
    return !isLater && isSameNumber(message?.destination, subscriber ?? undefined)
  })
  const open = distinct(fitting.filter(({ uuid }) => messages.get(uuid)!.isOpen))
  if (open.length === 0 && isOld) return fitting.at(-1)
  return open.length === 1 ? open[0] : undefined
}

/** A part whose message went on after midnight is noted under both days. */
const distinct = <S extends { uuid: string; part: number }>(submissions: S[]): S[] => [
  ...new Map(submissions.map(submission => [`${submission.uuid} ${submission.part}`, submission])).values(),
]
