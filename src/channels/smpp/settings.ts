import { X509Certificate } from 'node:crypto'
import { flag, oneOf, optional, type RawSettings, text, whole, wrongSetting } from '../settings.ts'
import type { LongMessages } from './protocol/text.ts'
import { type ReceiptIds, receiptIdSettings } from './receipts/message-ids.ts'

/** The settings of an SMPP gateway, with all defaults. */
export type SmppSettings = {
  host: string
  port: number
  systemId: string
  password: string
  systemType: string
  /** One connection for both directions, or one for each. */
  mode: 'transceiver' | 'pair'
  /** The number of connections; in `pair` mode, of each kind. */
  binds: number
  /** The most submissions without an answer on a connection. */
  window: number
  tls: boolean
  /** The trusted authority in PEM, instead of the authorities of the system. */
  tlsCa: string | undefined
  tlsServerName: string | undefined
  /** Types of numbers; without them, the form of the address decides. */
  sourceTon: number | undefined
  sourceNpi: number | undefined
  destTon: number | undefined
  destNpi: number | undefined
  longMessages: LongMessages
  gsmPacking: boolean
  latin1: boolean
  serviceType: string
  registeredDelivery: number
  /** If the connection ends before the answer, the message is sent again and may arrive twice; if false, it counts as sent. */
  resendLost: boolean
  /** The validity period of messages without their own end; with 0 the operator decides. */
  validitySeconds: number
  /** The form of the validity period: a duration, or a point in time. */
  validityForm: 'relative' | 'absolute'
  receiptIds: ReceiptIds
  /** The zone of the "done date" in receipts, in minutes east of UTC; without it the time of arrival counts. */
  receiptZoneMinutes: number | undefined
  connectMs: number
  requestMs: number
  enquireMs: number
  firstBackoffMs: number
  mostBackoffMs: number
  drainMs: number
}

/** The common lifetime of a message. */
const LIFETIME_SECONDS = 25 * 3600

/** These settings are stored encrypted and never shown. */
export const secretSettings = ['password']

/** Reads the settings of a gateway. Throws with the name of the wrong setting. */
export function readSettings(raw: RawSettings): SmppSettings {
  return {
    host: text(raw, 'host'),
    port: whole(raw, 'port', 2775, 1, 65535),
    systemId: latin1(raw, 'systemId'),
    password: latin1(raw, 'password', ''),
    systemType: latin1(raw, 'systemType', ''),
    mode: oneOf(raw, 'mode', ['transceiver', 'pair']),
    binds: whole(raw, 'binds', 1, 1, 100),
    window: whole(raw, 'window', 100, 1, 10_000),
    tls: flag(raw, 'tls'),
    tlsCa: optional(raw, 'tlsCa', certificate),
    tlsServerName: optional(raw, 'tlsServerName', text),
    sourceTon: optional(raw, 'sourceTon', octet),
    sourceNpi: optional(raw, 'sourceNpi', octet),
    destTon: optional(raw, 'destTon', octet),
    destNpi: optional(raw, 'destNpi', octet),
    longMessages: oneOf(raw, 'longMessages', ['udh', 'sar', 'payload']),
    gsmPacking: flag(raw, 'gsmPacking'),
    latin1: flag(raw, 'latin1'),
    serviceType: latin1(raw, 'serviceType', ''),
    registeredDelivery: receipts(raw, 'registeredDelivery'),
    resendLost: flag(raw, 'resendLost', true),
    validitySeconds: whole(raw, 'validitySeconds', LIFETIME_SECONDS, 0, 30 * 86_400),
    validityForm: oneOf(raw, 'validityForm', ['relative', 'absolute']),
    receiptIds: oneOf(raw, 'receiptIds', ['auto', ...receiptIdSettings]),
    receiptZoneMinutes: optional(raw, 'receiptZoneMinutes', (from, name) => whole(from, name, 0, -840, 840)),
    connectMs: whole(raw, 'connectMs', 10_000, 1, 300_000),
    requestMs: whole(raw, 'requestMs', 30_000, 1, 300_000),
    enquireMs: whole(raw, 'enquireMs', 30_000, 1, 3_600_000),
    firstBackoffMs: whole(raw, 'firstBackoffMs', 1000, 1, 3_600_000),
    mostBackoffMs: whole(raw, 'mostBackoffMs', 60_000, 1, 3_600_000),
    drainMs: whole(raw, 'drainMs', 5000, 0, 300_000),
  }
}

/** A text of SMPP has one octet for each character. */
function latin1(raw: RawSettings, name: string, otherwise?: string): string {
  const value = text(raw, name, otherwise)
  if (/[\u0100-\uffff]/.test(value))
    throw wrongSetting(name, 'has a character that SMPP cannot carry: only Latin-1 is allowed')
  return value
}

/** The two lowest bits choose the receipts: only 1 asks for receipts of deliveries and of failures. */
function receipts(raw: RawSettings, name: string): number {
  const value = whole(raw, name, 1, 0, 255)
  if ((value & 3) !== 1)
    throw wrongSetting(
      name,
      'must ask for a receipt of every message, as 1 or 17 do: without receipts all of them fail',
    )
  return value
}

function certificate(raw: RawSettings, name: string): string {
  const pem = text(raw, name)
  try {
    new X509Certificate(pem)
  } catch {
    throw wrongSetting(name, 'is no certificate in PEM')
  }
  return pem
}

const octet = (raw: RawSettings, name: string) => whole(raw, name, 0, 0, 255)
