import { flushCompileCache } from 'node:module'
import { pino } from 'pino'
import { connect } from '../db/sql.ts'
import { startEngine } from '../engine/engine.ts'

/** An engine in its own process, for tests that kill and freeze it: `node engine-process.ts DATABASE_URL [SECRET]`. */
const sql = connect(process.argv[2]!, { max: 10, name: 'tidings engine' })
const log = pino({ level: 'fatal' }, pino.destination(2))
const engine = await startEngine({
  sql,
  log,
  moderation: 'manual',
  billingZone: 'Europe/Moscow',
  callbacks: { allow: ['127.0.0.0/8'] },
  ...(process.argv[3] ? { secret: process.argv[3] } : {}),
})
process.stdout.write(`${engine.worker}\n`)
flushCompileCache() // now: a test may kill this process

process.on('SIGTERM', async () => {
  await engine.stop()
  await sql.end({ timeout: 1 })
  process.exit(0) // the driver would try to connect to the deleted database again
})
