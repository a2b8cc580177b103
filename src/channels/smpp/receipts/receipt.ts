import { plainId, plainWords } from '../../../base/content/plain-words.ts'
import type { Receipt } from '../../channel.ts'
import { esmClass } from '../protocol/pdu.ts'
import { decodeText, type Incoming } from '../protocol/text.ts'
import { classOfNetworkError, errorCodeOf, type FailureClass, failureClass } from './failure.ts'

/** The content of a receipt. Without `status` the receipt is not final. */
export type SmscReceipt = {
  /** As the SMSC wrote it; `message-ids.ts` converts it to the id of the submission. */
  id: string
  status?: Extract<Receipt['status'], 'DELIVERED' | 'FAILED'>
  errorCode?: number
  /** The operator's own error, for questions to the operator. */
  operatorError?: string
  /** The "done date", YYMMDDhhmm or YYMMDDhhmmss, in the zone of the SMSC. */
  doneDate?: string
}

export type FinalReceipt = SmscReceipt & Required<Pick<SmscReceipt, 'status'>>

type Ending = 'none' | 'delivered' | FailureClass

/** The final values of `message_state`. Other values are not final: scheduled, en route, accepted, unknown. */
const STATES: Record<number, Ending> = {
  2: 'delivered',
  3: failureClass.expired,
  4: failureClass.deleted,
  5: failureClass.undelivered,
  8: failureClass.rejected,
  9: failureClass.undelivered, // skipped
}

/** `stat:` by its first five letters: operators write DELIVRD and DELIVERED, UNDELIV and UNDELIVERABLE. */
const STATS: Record<string, Ending> = {
  DELIV: 'delivered',
  EXPIR: failureClass.expired,
  DELET: failureClass.deleted,
  UNDEL: failureClass.undelivered,
  FAILE: failureClass.undelivered,
  REJEC: failureClass.rejected,
  SKIPP: failureClass.undelivered,
}

/**
 * Whether a delivery is a receipt. Only the marks of the SMSC count: a subscriber can send a text that looks like a
 * receipt, and must not change the status of messages with it.
 */
export const isReceipt = ({ esmClass: esm, tlvs }: Pick<Incoming, 'esmClass' | 'tlvs'>): boolean =>
  (esm & esmClass.messageType) !== 0 || tlvs.receiptedMessageId !== undefined

/** Reads a receipt from its optional parameters, and from its text if they are missing. */
export function readReceipt(incoming: Incoming): SmscReceipt | undefined {
  const { receiptedMessageId, messageState, networkErrorCode, messagePayload } = incoming.tlvs
  const octets = incoming.shortMessage?.length ? incoming.shortMessage : messagePayload
  const text = readReceiptText(octets ? decodeText(textCoding(incoming.dataCoding), octets) : '')
  const id = plainId(receiptedMessageId) ?? plainId(text.id)
  if (!id) return undefined
  const ending = (messageState === undefined ? undefined : STATES[messageState]) ?? endingOfStat(text.stat)
  return {
    id,
    ...(isIntermediate(incoming.esmClass) ? {} : statusOf(ending, networkErrorCode)),
    ...operatorErrorOf(networkErrorCode, text.err),
    ...(text.doneDate ? { doneDate: text.doneDate } : {}),
  }
}

/** Receipts in the default alphabet are read as ASCII, because operators write "_" and "@" in ASCII. */
const textCoding = (coding: number) => (coding === 0 ? 1 : coding)

const INTERMEDIATE = 0x20
const isIntermediate = (esm: number) => (esm & INTERMEDIATE) !== 0

export type ReceiptText = { id?: string; stat?: string; err?: string; doneDate?: string }

/** `id:.. sub:.. dlvrd:.. submit date:.. done date:.. stat:.. err:.. text:..`, in any order and case, with gaps, or with a NUL at the end. */
export function readReceiptText(text: string): ReceiptText {
  const [head = ''] = text.split(/\btext:/i, 1)
  const find = (name: RegExp) => name.exec(head)?.[1]
  return {
    id: find(/\bid:\s?([^\s\p{Cc}]+)/iu),
    stat: find(/\bstat:\s?([^\s\p{Cc}]+)/iu),
    err: find(/\berr:\s?([^\s\p{Cc}]+)/iu),
    doneDate: find(/\bdone ?date:\s?(\d{10,12})\b/i),
  }
}

const endingOfStat = (stat: string | undefined): Ending => (stat && STATS[stat.slice(0, 5).toUpperCase()]) || 'none'

function statusOf(ending: Ending, networkErrorCode: Buffer | undefined): Pick<SmscReceipt, 'status' | 'errorCode'> {
  if (ending === 'none') return {}
  if (ending === 'delivered') return { status: 'DELIVERED' }
  // The error of the network is more precise than "undelivered". An expired message stays "expired".
  const kind = ending === failureClass.undelivered ? (classOfNetworkError(networkErrorCode) ?? ending) : ending
  return { status: 'FAILED', errorCode: errorCodeOf(kind) }
}

function operatorErrorOf(networkErrorCode: Buffer | undefined, err: string | undefined) {
  if (networkErrorCode?.length === 3) {
    return { operatorError: `${networkErrorCode[0]}/${networkErrorCode.readUInt16BE(1)}` }
  }
  const word = plainWords(err ?? '')
  return word && !/^0+$/.test(word) ? { operatorError: word } : {}
}

/**
 * The time of a "done date", with the zone of the SMSC in minutes east of UTC. A time in the future becomes now, because
 * the zone or a clock is wrong.
 */
export function momentOf(doneDate: string, zoneMinutes: number, now = Date.now()): Date | undefined {
  const digits = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?/.exec(doneDate)?.slice(1).map(Number)
  if (!digits) return undefined
  const [year, month, day, hour, minute, second] = digits as [number, number, number, number, number, number]
  const at = Date.UTC(2000 + year, month - 1, day, hour, minute - zoneMinutes, second || 0)
  return Number.isNaN(at) ? undefined : new Date(Math.min(at, now))
}
