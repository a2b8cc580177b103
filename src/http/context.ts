import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import { type DocumentQuota, usualDocumentQuota } from '../domain/documents/document.ts'
import type { Connectors } from '../domain/gateways/connectors.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'
import type { CaptchaUrls } from './widget/captcha/captcha.ts'

/** Bounds on what clients can occupy. */
export type Limits = {
  /** Connections in all, and from one address that is no trusted proxy. */
  connections: number
  connectionsPerAddress: number
  /** Bytes of bodies that are read before their sender is known, in all. */
  strangerBytes: number
  /** Reports that are read at a time, in all and by one partner, and how long a reader may take nothing. */
  reports: number
  reportsPerPartner: number
  reportStallMs: number
  documents: DocumentQuota
}

export const usualLimits: Limits = {
  connections: 5000,
  connectionsPerAddress: 1000,
  strangerBytes: 64 * 1024 * 1024,
  reports: 10,
  reportsPerPartner: 3,
  reportStallMs: 30_000,
  documents: usualDocumentQuota,
}

/** What every face of the service is given. */
export type Context = {
  sql: Pool
  clock: () => Date
  /** How far the clock of this machine is ahead of the database's; 0 when it is right. */
  clockOffMs?: () => number
  numbering: () => Numbering
  log: Logger
  billingZone: string
  publicUrl: string
  trustedProxies: string[]
  metrics: boolean
  /** Networks that may read the metrics; unless given, this machine alone. */
  metricsAllow?: string[]
  /** What the secrets of gateways are sealed with. */
  secret: string
  /** For the page of gateways; without them, gateways are only looked at there. */
  connectors?: Connectors
  /** The folder of the embedded database: its disk is watched. */
  dataFolder?: string | undefined
  /** Texts by which a subscriber asks for nothing more; unless told, the usual ones. */
  stopWords?: readonly string[]
  /** Whether names and templates are approved without staff. */
  moderation?: 'auto' | 'manual'
  /** Serves `/widget/demo`. */
  demo?: boolean
  /** Base addresses of the providers of captchas; unless given, the usual ones. */
  captchaUrls?: CaptchaUrls
  /** Those that are not given are the usual ones. */
  limits?: Partial<Limits>
}
