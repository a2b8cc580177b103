import { isSameNumber } from '../../base/phone/same-number.ts'

/** The report of an operator about a part, with the operator's id of the part. */
export type ProviderReceipt = {
  providerId: string
  /** Our uuid, if the operator repeats it. A submission without a response is stored under it. */
  ownId?: string | null
  /** The id is as the operator sent it. Its format is ambiguous, so it matches no submission yet. */
  isUnread?: boolean
  /** The destination of the message. The receipt matches no message to another destination. */
  subscriber?: string | null
  /**
   * The receipt may belong to a message whose submission is not recorded yet. If it matches a message now, other than
   * `unless`, it goes to the receipt inbox and is matched again after this time.
   */
  unsure?: { forMs: number; unless?: string }
  /** The time of arrival, for a receipt from the inbox. */
  receivedAt?: Date
  /** It was in the inbox for so long that all submissions before its arrival are recorded. */
  isOld?: boolean
  /** READ implies DELIVERED. */
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode: number | null
  /** The operator's own text of the error. */
  operatorError?: string | null
  happenedAt: Date
}

/** The destination of a message, whether it is not final yet, and the earliest possible time of its submission. */
export type SubmittedMessage = { destination: string; isOpen: boolean; since: Date }

/**
 * Chooses the submission of a receipt among the submissions with its id. The submission must have the destination of the
 * receipt, must be older than the receipt, and must be the only one whose message is not final. If two messages are not
 * final, the receipt waits until one of them is. If all are final, the receipt is repeated, or its submission is not
 * recorded yet. So the receipt waits for some time.
 */
export function submissionTo<S extends { uuid: string; part: number }>(
  { subscriber, receivedAt, isOld }: Pick<ProviderReceipt, 'subscriber' | 'receivedAt' | 'isOld'>,
  submissions: S[],
  messages: ReadonlyMap<string, SubmittedMessage>,
): S | undefined {
  const fitting = submissions.filter(({ uuid }) => {
    const message = messages.get(uuid)
    const isLater = receivedAt !== undefined && message !== undefined && message.since > receivedAt
    return !isLater && isSameNumber(message?.destination, subscriber ?? undefined)
  })
  const open = distinct(fitting.filter(({ uuid }) => messages.get(uuid)?.isOpen))
  if (open.length === 0 && isOld) return fitting.at(-1)
  return open.length === 1 ? open[0] : undefined
}

/** A part whose message is sent before and after midnight is stored under both days. */
const distinct = <S extends { uuid: string; part: number }>(submissions: S[]): S[] => [
  ...new Map(submissions.map(submission => [`${submission.uuid} ${submission.part}`, submission])).values(),
]
