import type { Pdu } from '../protocol/pdu.ts'
import type { InboundText } from '../protocol/text.ts'

/** How the SMSC behaves. Rates are shares of all submissions, from 0 to 1. */
export type SmscSettings = {
  host?: string
  port?: number
  tls?: { key: string; cert: string }
  /** Passwords by system id; without them every client may bind. */
  accounts?: Record<string, string>
  /** The most submissions of an account in any second; the SMSC throttles the others. */
  partsPerSecond?: number
  /** The time until a submission is answered. */
  answerMs?: number
  /** A receipt comes after a random time up to this, counted from the answer. */
  receiptMs?: number
  receiptStyle?: ReceiptStyle
  /** The first message id; by default a large number that depends on the time. */
  firstId?: number
  /** The form of ids in answers, and in receipts. */
  answerIds?: IdStyle
  receiptIds?: IdStyle
  refuseRate?: number
  /** The status of the answer to a refused submission. */
  refuseStatus?: number
  throttleRate?: number
  queueFullRate?: number
  /** Messages that are accepted and then not delivered: a share of all, or all with a certain text. */
  failRate?: number
  failsWhen?: (text: string) => boolean
  /** Accepted, but never answered. */
  silentRate?: number
  missingReceiptRate?: number
  duplicateReceiptRate?: number
  /** A second receipt says the opposite of the first. */
  contradictingReceiptRate?: number
  /** A second receipt has the id of no message. */
  wrongIdReceiptRate?: number
  /** The receipt is sent before the answer. */
  earlyReceiptRate?: number
  /** The SMSC accepts the submission, and closes the connection instead of answering. */
  disconnectRate?: number
  /** The same for every n-th submission. */
  disconnectEvery?: number
  /**
   * The last four digits of a number decide how its message ends, as with the simulated operators: 0003 is not delivered,
   * 0004 is refused, 0005 has no receipt, 0006 has two, 0007 has one before the answer, 0009 is throttled at first.
   */
  testNumbers?: boolean
  /** Called for every accepted submission. The SMSC itself keeps no messages. */
  onMessage?: (message: SmscMessage) => void
}

export type IdStyle = 'decimal' | 'hex' | 'HEX' | 'padded'
export type ReceiptStyle = 'tlv' | 'text' | 'both'

export type SmscMessage = InboundText & {
  id: string
  systemId: string
  from: string
  to: string
  pdu: Pdu<'submit_sm'>
}
