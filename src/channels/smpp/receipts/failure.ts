import { errorCodes } from '../../../base/error-codes.ts'
import { status } from '../protocol/status.ts'

/**
 * The reasons for a failed delivery, as classes that are the same for all operators. The error code of the message is 600
 * plus the class. Every operator has its own error numbers; its value is stored beside our code, unchanged.
 */
export const failureClass = {
  undelivered: 1, // without a known reason
  unknownSubscriber: 2,
  absent: 3, // switched off or without coverage for too long
  barred: 4, // the subscriber or the service does not accept messages
  handset: 5, // busy, or its memory is full
  network: 6,
  expired: 7,
  rejected: 8, // by the operator: content, contract, or a field it does not accept
  deleted: 9, // by the operator
  badSender: 10,
} as const

export type FailureClass = (typeof failureClass)[keyof typeof failureClass]

const FIRST_CODE = errorCodes.undelivered - failureClass.undelivered

export const errorCodeOf = (kind: FailureClass): number => FIRST_CODE + kind

/** The errors of MAP (3GPP TS 29.002) for a message, as GSM operators put them into receipts. */
const MAP_ERRORS: Record<number, FailureClass> = {
  1: failureClass.unknownSubscriber,
  5: failureClass.unknownSubscriber, // unidentified
  6: failureClass.absent, // for short messages
  9: failureClass.barred, // illegal subscriber
  11: failureClass.barred, // teleservice not provisioned
  12: failureClass.barred, // illegal equipment
  13: failureClass.barred,
  21: failureClass.barred, // facility not supported
  27: failureClass.absent,
  31: failureClass.handset, // busy
  32: failureClass.handset, // delivery failure: memory, protocol, equipment
  33: failureClass.absent, // and the list of waiting messages is full
  34: failureClass.network,
  35: failureClass.network,
  36: failureClass.network,
}

const GSM = 3

/** `network_error_code` has the type of the network in one octet, and its error in two. */
export function classOfNetworkError(networkErrorCode: Buffer | undefined): FailureClass | undefined {
  if (networkErrorCode?.length !== 3 || networkErrorCode[0] !== GSM) return undefined
  return MAP_ERRORS[networkErrorCode.readUInt16BE(1)]
}

/** The class of a final error in the answer to a submission. */
export function classOfRefusal(code: number): FailureClass {
  switch (code) {
    case status.ESME_RINVDSTADR:
    case status.ESME_RINVDSTTON:
    case status.ESME_RINVDSTNPI:
      return failureClass.unknownSubscriber
    case status.ESME_RINVSRCADR:
    case status.ESME_RINVSRCTON:
    case status.ESME_RINVSRCNPI:
      return failureClass.badSender
    default:
      return failureClass.rejected
  }
}
