import type { Logger } from 'pino'
import type { SendMail } from '../base/mail/mail.ts'
import type { Tracer } from '../base/tracing/tracer.ts'
import type { Reading } from '../db/reading.ts'
import type { Pool } from '../db/sql.ts'
import { type DocumentQuota, usualDocumentQuota } from '../domain/documents/document.ts'
import type { Connectors } from '../domain/gateways/connectors.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'
import type { Language } from '../domain/people/person.ts'
import type { CaptchaUrls } from './widget/captcha/captcha.ts'

/** Limits on the resources that clients can use at a time. */
export type Limits = {
  /** Connections in all, and from one address that is no trusted proxy. */
  connections: number
  connectionsPerAddress: number
  /** Bytes of request bodies that are read before the client is authenticated, in all. */
  strangerBytes: number
  /** Reports that are sent at a time, in all and to one partner. A report ends if its client reads nothing for this long. */
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

/** The dependencies and settings of all APIs. */
export type Context = {
  sql: Pool
  /** For searches, reports and statistics. By default they use `sql` too. */
  reading?: Reading | undefined
  clock: () => Date
  /** How far the clock of this machine is ahead of the database clock. 0 for a correct clock. */
  clockOffMs?: () => number
  /** The process was told to stop. It still answers, but should get no further requests. */
  isDraining?: () => boolean
  numbering: () => Numbering
  log: Logger
  billingZone: string
  publicUrl: string
  trustedProxies: string[]
  metrics: boolean
  /** Networks that may read the metrics. By default only this machine. */
  metricsAllow?: string[]
  /**
   * For one of several processes on a port. It gets a function with the metrics of this process, and returns a function
   * with the metrics of all of them.
   */
  metricsOfAll?: (own: () => Promise<string>) => () => Promise<string>
  /** The key that encrypts the secrets of gateways. */
  secret: string
  /** The connectors that the cabinet's page of gateways can set up. Without them the page only shows gateways. */
  connectors?: Connectors
  /** The folder of the embedded database. The service checks the free space of its disk. */
  dataFolder?: string | undefined
  /** Texts with which a subscriber unsubscribes. By default the usual ones. */
  stopWords?: readonly string[]
  /** Whether names and templates are approved without staff. */
  moderation?: 'auto' | 'manual'
  /** Serves `/widget/demo`. */
  demo?: boolean
  /** Base URLs of the captcha providers. By default the usual ones. */
  captchaUrls?: CaptchaUrls
  /** The mail server, and the language of mails whose sender has none. Without it people pass links on themselves. */
  mails?: { send: SendMail; language: Language } | undefined
  /** Limits that are not given have their usual values. */
  limits?: Partial<Limits>
  /** Without it nothing is traced. */
  tracer?: Tracer | undefined
}

export const readingOf = ({ sql, reading }: Pick<Context, 'sql' | 'reading'>): Reading =>
  reading ?? {
    read: work => work(sql),
    upToDate: async () => sql,
    state: () => ({ isReplica: false, lagMs: undefined }),
  }
