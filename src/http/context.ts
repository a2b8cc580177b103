import type { Logger } from 'pino'
import type { Pool } from '../db/sql.ts'
import type { Numbering } from '../domain/numbering/numbering.ts'

/** What every face of the service is given. */
export type Context = {
  sql: Pool
  clock: () => Date
  numbering: () => Numbering
  log: Logger
  billingZone: string
  publicUrl: string
  trustedProxies: string[]
  metrics: boolean
  /** What the secrets of gateways are sealed with. */
  secret: string
  /** Texts by which a subscriber asks for nothing more; unless told, the usual ones. */
  stopWords?: readonly string[]
}
