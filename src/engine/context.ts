import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Tracer } from '../base/tracing/tracer.ts'
import type { Pool } from '../db/sql.ts'
import type { Moderation } from '../domain/review/review.ts'
import type { CallbackSettings } from './callbacks/sender.ts'
import type { Connect } from './gateways/gateways.ts'

/** The settings and tools that an engine is started with. */
export type EngineOptions = {
  sql: Pool
  /** The time for all decisions. The default is the clock of the database; tests set their own. */
  clock?: () => Date
  /** The clock of this machine. The engine only compares it with the database's and logs a warning if they differ. */
  ownClock?: () => Date
  log: Logger
  moderation: Moderation
  billingZone: string
  callbacks: CallbackSettings
  /** Encrypts the secrets of gateways and callbacks. Without it the engine cannot read encrypted secrets. */
  secret?: string
  /** The public address of this service. Short links begin with it. */
  publicUrl?: string
  /** How many months of messages stay attached to the table. The default is all of them. */
  keepMonths?: number | undefined
  /** After how many days the texts of messages are removed. The default is never. */
  keepTextsDays?: number | undefined
  /** Texts by which a subscriber asks not to be written to again. */
  stopWords?: readonly string[]
  /** How long the scheduler sleeps without work. New work wakes it earlier. */
  idleMs?: number
  /** Connects a gateway. The default chooses the connector by its name. */
  connect?: Connect
  /** Without it nothing is traced. */
  tracer?: Tracer | undefined
  /** Starts a thread that calls `serveCodes`. Without it the engine sends verification codes itself. */
  startCodesThread?: (() => Worker) | undefined
}

/** The options with a clock, as every part of the engine gets them. */
export type EngineContext = EngineOptions & { clock: () => Date }
