import { pino } from 'pino'
import { connectionsForCodes } from '../src/commands/service/processes/counts.ts'
import { connect } from '../src/db/sql.ts'
import { startEngine } from '../src/engine/engine.ts'
import { serveParent } from './child.ts'
import { secret } from './secret.ts'

/** The default of TIDINGS_DATABASE_CONNECTIONS. */
const CONNECTIONS = 10

/** The engine as `tidings engine` runs it. */
const connectionsOfCodes = connectionsForCodes(CONNECTIONS)
const sql = connect(process.env.DATABASE_URL!, { max: CONNECTIONS - connectionsOfCodes })
const log = pino({ level: 'warn' }, pino.destination(2))
const engine = await startEngine({
  sql,
  log,
  moderation: 'auto',
  billingZone: 'Europe/Moscow',
  callbacks: { allow: ['127.0.0.0/8'] },
  secret,
  connectionsOfCodes,
})

serveParent(0, async () => {
  await engine.stop()
  await sql.end({ timeout: 1 })
})
