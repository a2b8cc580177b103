import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../../../config.ts'
import { openDatabase } from '../../../db/database.ts'
import { useErasureSecret } from '../../../domain/blacklist/erased.ts'
import { serveCodes } from '../../../engine/codes/codes-engine.ts'
import { makeLog } from '../log.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import { engineOptions } from './engine.ts'

/** The thread in which an engine sends verification codes. */
const config: Config = workerData
const log = makeLog(config.logLevel, 'engine')
const database = await openDatabase(config, {})
try {
  useErasureSecret(database.secret)
  const tracing = openTracer({ config, log }, 'engine')
  await serveCodes({ ...engineOptions(config, database, log), tracer: tracing?.tracer }, parentPort!)
  await tracing?.stop()
} finally {
  await database.close()
}
