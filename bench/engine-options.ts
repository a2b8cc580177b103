import { pino } from 'pino'
import { connectionsForCodes } from '../src/commands/service/processes/counts.ts'
import { connect } from '../src/db/sql.ts'
import type { EngineOptions } from '../src/engine/context.ts'
import { secret } from './secret.ts'

/** The default of TIDINGS_DATABASE_CONNECTIONS. */
export const CONNECTIONS = 10

export const connectionsOfCodes = connectionsForCodes(CONNECTIONS)

/** As `tidings engine` has them. */
export const openEngineOptions = (connections: number): EngineOptions => ({
  sql: connect(process.env.DATABASE_URL!, { max: connections }),
  log: pino({ level: 'warn' }, pino.destination(2)),
  moderation: 'auto',
  billingZone: 'Europe/Moscow',
  callbacks: { allow: ['127.0.0.0/8'] },
  secret,
})
