import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import { connect } from '../db/sql.ts'
import { serveCodes } from '../engine/codes/codes-engine.ts'

/** The codes thread of an engine of a test. With `failsAfterMs` it ends with an error. */
const { url, failsAfterMs } = workerData as { url: string; failsAfterMs?: number }
if (failsAfterMs !== undefined)
  setTimeout(() => {
    throw new Error('the thread of the test fails')
  }, failsAfterMs)

const sql = connect(url, { max: 3, name: 'tidings codes' })
const log = pino({ level: 'error' }, process.stderr)
const callbacks = { allow: [] }
await serveCodes({ sql, log, moderation: 'manual', billingZone: 'Europe/Moscow', callbacks }, parentPort!)
await sql.end({ timeout: 1 })
