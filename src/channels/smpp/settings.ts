import { X509Certificate } from 'node:crypto'
import Type, { type StaticDecode } from 'typebox'
import {
  choice,
  file,
  flag,
  type RawSettings,
  rare,
  refine,
  secret,
  senderNames,
  text,
  valuesOf,
  whole,
} from '../settings.ts'
import { receiptIdSettings } from './receipts/message-ids.ts'

/** The common lifetime of a message. */
const LIFETIME_SECONDS = 25 * 3600

/** The settings of an SMPP gateway. */
export const smppSchema = Type.Object({
  host: text(),
  port: whole(1, 65_535, 2775),
  systemId: latin1(),
  password: secret(latin1('')),
  /** The number of connections; in `pair` mode, of each kind. */
  binds: whole(1, 100, 1),
  /** The most submissions without an answer on a connection. */
  window: whole(1, 10_000, 100),
  /** One connection for both directions, or one for each. */
  mode: choice('transceiver', 'pair'),
  tls: flag(),
  senderNames: senderNames(),
  ...rare({
    tlsServerName: Type.Optional(text()),
    /** The trusted authority in PEM, instead of the authorities of the system. */
    tlsCa: Type.Optional(refine(file(), isCertificate, 'is no certificate in PEM')),
    systemType: latin1(''),
    serviceType: latin1(''),
    longMessages: choice('udh', 'sar', 'payload'),
    receiptIds: choice(...receiptIdSettings),
    /** The zone of the "done date" in receipts, in minutes east of UTC; without it the time of arrival counts. */
    receiptZoneMinutes: Type.Optional(whole(-840, 840)),
    registeredDelivery: refine(
      whole(0, 255, 1),
      asksForReceipts,
      'must ask for a receipt of every message, as 1 or 17 do: without receipts all of them fail',
    ),
    /** If the connection ends before the answer, the message is sent again and may arrive twice; if false, it counts as sent. */
    resendLost: flag(true),
    /** The validity period of messages without their own end; with 0 the operator decides. */
    validitySeconds: whole(0, 30 * 86_400, LIFETIME_SECONDS),
    /** The form of the validity period: a duration, or a point in time. */
    validityForm: choice('relative', 'absolute'),
    gsmPacking: flag(),
    latin1: flag(),
    /** Types of numbers; without them, the form of the address decides. */
    sourceTon: Type.Optional(whole(0, 255)),
    sourceNpi: Type.Optional(whole(0, 255)),
    destTon: Type.Optional(whole(0, 255)),
    destNpi: Type.Optional(whole(0, 255)),
    connectMs: whole(1, 300_000, 10_000),
    requestMs: whole(1, 300_000, 30_000),
    enquireMs: whole(1, 3_600_000, 30_000),
    firstBackoffMs: whole(1, 3_600_000, 1000),
    mostBackoffMs: whole(1, 3_600_000, 60_000),
    drainMs: whole(0, 300_000, 5000),
  }),
})

export type SmppSettings = StaticDecode<typeof smppSchema>

export const readSettings = (raw: RawSettings): SmppSettings => valuesOf(smppSchema, raw)

/** A text of SMPP has one octet for each character. */
function latin1(otherwise?: string) {
  const problem = 'has a character that SMPP cannot carry: only Latin-1 is allowed'
  return refine(text(otherwise), value => !/[\u0100-\uffff]/.test(value), problem)
}

/** The two lowest bits choose the receipts: only 1 asks for receipts of deliveries and of failures. */
function asksForReceipts(registeredDelivery: number): boolean {
  return (registeredDelivery & 3) === 1
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
