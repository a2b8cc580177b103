import { esmClass, type Pdu, type Tlvs } from '../protocol/pdu.ts'
import { decodeInbound } from '../protocol/text.ts'
import type { SmscDelivery } from './deliveries.ts'
import type { IdStyle, ReceiptStyle } from './settings.ts'

const PADDED_TO = 20

export function idInStyle(id: number, style: IdStyle = 'decimal'): string {
  switch (style) {
    case 'decimal':
      return String(id)
    case 'hex':
      return id.toString(16)
    case 'HEX':
      return id.toString(16).toUpperCase()
    case 'padded':
      return String(id).padStart(PADDED_TO, '0')
  }
}

const DELIVERED = 2
const UNDELIVERABLE = 5
/** The error "absent subscriber" of GSM. */
const ABSENT = Buffer.from([3, 0, 27])

/** The receipt for a submission. It goes from the subscriber back to the sender. */
export function receiptOf(
  pdu: Pdu<'submit_sm'>,
  id: string,
  isDelivered: boolean,
  style: ReceiptStyle = 'both',
): SmscDelivery {
  const tlvs: Tlvs = {
    receiptedMessageId: id,
    messageState: isDelivered ? DELIVERED : UNDELIVERABLE,
    ...(isDelivered ? {} : { networkErrorCode: ABSENT }),
  }
  return {
    sourceAddrTon: pdu.destAddrTon,
    sourceAddrNpi: pdu.destAddrNpi,
    sourceAddr: pdu.destinationAddr,
    destAddrTon: pdu.sourceAddrTon,
    destAddrNpi: pdu.sourceAddrNpi,
    destinationAddr: pdu.sourceAddr,
    esmClass: esmClass.receipt,
    shortMessage: style === 'tlv' ? Buffer.alloc(0) : Buffer.from(receiptText(id, isDelivered, pdu)),
    ...(style === 'text' ? {} : { tlvs }),
  }
}

function receiptText(id: string, isDelivered: boolean, pdu: Pdu<'submit_sm'>): string {
  const now = new Date().toISOString().replace(/\D/g, '').slice(2, 12)
  const head = `id:${id} sub:001 dlvrd:00${isDelivered ? 1 : 0} submit date:${now} done date:${now}`
  const text = textOf(pdu).replace(/[^\x20-\x7e]/g, '.')
  return `${head} stat:${isDelivered ? 'DELIVRD' : 'UNDELIV'} err:${isDelivered ? '000' : '027'} text:${text.slice(0, 20)}`
}

export const textOf = (pdu: Pdu<'submit_sm'>) => decodeInbound(pdu, { gsmPacking: false }).text

/** A long message is counted by its first part. */
export function isFirstPart(pdu: Pdu<'submit_sm'>): boolean {
  const mayBeJoined = (pdu.esmClass & esmClass.udh) !== 0 || pdu.tlvs.sarMsgRefNum !== undefined
  return !mayBeJoined || (decodeInbound(pdu, { gsmPacking: false }).joined?.part ?? 1) === 1
}
