import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { connect } from '../src/db/sql.ts'
import { watchNumbering } from '../src/domain/numbering/numbering.ts'
import { buildApp } from '../src/http/app.ts'
import { serveParent } from './child.ts'
import { secret } from './secret.ts'

/** The service as `tidings api` runs it: the whole HTTP side on a port, with its own connections to the database. */
const sql = connect(process.env.DATABASE_URL!)
const log = pino()
const numbering = await watchNumbering(sql, { onError: error => log.error(error) })
const app = await buildApp({
  sql,
  clock: () => new Date(),
  numbering: numbering.current,
  log,
  billingZone: 'Europe/Moscow',
  publicUrl: 'http://localhost:8080',
  trustedProxies: [],
  metrics: true,
  secret,
})
await app.listen({ port: 0, host: '127.0.0.1' })

serveParent((app.server.address() as AddressInfo).port, async () => {
  await numbering.stop()
  await app.close()
  await sql.end({ timeout: 1 })
})
