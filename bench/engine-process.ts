import { pino } from 'pino'
import { connect } from '../src/db/sql.ts'
import { startEngine } from '../src/engine/engine.ts'
import { serveParent } from './child.ts'
import { secret } from './secret.ts'

/** The engine as `tidings engine` runs it. */
const sql = connect(process.env.DATABASE_URL!)
const log = pino({ level: 'warn' }, pino.destination(2))
const engine = await startEngine({
  sql,
  log,
  moderation: 'auto',
  billingZone: 'Europe/Moscow',
  callbacks: { allow: ['127.0.0.0/8'] },
  secret,
})

serveParent(0, async () => {
  await engine.stop()
  await sql.end({ timeout: 1 })
})
