import type { WidgetErrorCode } from '../../base/widget-errors.ts'
import type { VerifierChannel } from '../verifiers/verifier.ts'

/** Why the widget refuses a request. The page shows the code; the reason is for the company's log. */
export type WidgetRefusal = {
  kind: 'refused'
  code: WidgetErrorCode
  reason: string
  retryAfterSeconds?: number
}

export const refusedBy = (code: WidgetRefusal['code'], reason: string, retryAfterSeconds?: number): WidgetRefusal => ({
  kind: 'refused',
  code,
  reason,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
})

/**
 * WAITING: the site's server is to ask for the code. SENT: the message with the code was accepted. FAILED: the code was not
 * sent, for the reason in `error`; the site's server may still ask again.
 */
export type SessionState = 'WAITING' | 'SENT' | 'FAILED'

/** The visitor of a page, with the number to confirm. */
export type Session = {
  companyId: number
  keyHash: Buffer
  secretHash: Buffer
  widgetId: string
  destination: string
  clientAddress: string
  origin: string
  language: string | null
  /** The channel that was asked for. */
  channelType: VerifierChannel
  state: SessionState
  /** How many codes the browser asked for. */
  asks: number
  error: number | null
  verificationUuid: string | null
  messageUuid: string | null
  /** Since the browser asked for the code. */
  secondsWaiting: number
  /** Before the browser may ask again, after an error that says so. */
  retryAfterSeconds: number
  isOver: boolean
  /** By the clock of the database. */
  readAt: Date
}

export type NewSession = Pick<
  Session,
  'widgetId' | 'destination' | 'clientAddress' | 'origin' | 'language' | 'channelType'
> & { network: string }

/** What the browser gets: the key is for the site's server, the secret for the browser alone. */
export type SessionKeys = { key: string; secret: string }

/** A line of the company's log of widget errors. */
export type WidgetError = {
  errorId: number
  widgetId: string
  code: number
  reason: string
  origin: string | null
  destination: string | null
  createdAt: Date
}
