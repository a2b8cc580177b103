import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/database.ts'
import type { EngineOptions } from '../../../engine/context.ts'
import { urlOf } from '../http-listeners.ts'
import { connectionsForCodes } from './counts.ts'

/** The options of an engine, and of its codes thread, by the settings. */
export function engineOptions(config: Config, { sql, secret }: Database, log: Logger): EngineOptions {
  const { moderation, billingZone, stopWords, keepMonths, keepTextsDays } = config
  const callbacks = {
    retrySeconds: config.callbackRetrySeconds,
    allow: config.callbackAllow,
    sourceIp: config.callbackSourceIp,
  }
  const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
  return { sql, secret, log, moderation, billingZone, callbacks, stopWords, publicUrl, keepMonths, keepTextsDays }
}

/** Starts the codes thread. Undefined where an engine has too few connections to the database to give it some. */
export function codesThreadOf(config: Config): (() => Worker) | undefined {
  const databaseConnections = connectionsForCodes(config.databaseConnections)
  if (databaseConnections === 0) return undefined
  const workerData: Config = { ...config, databaseConnections }
  return () => new Worker(new URL('codes-thread.ts', import.meta.url), { workerData })
}
