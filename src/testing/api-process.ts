import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { connect } from '../db/sql.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { buildApp } from '../http/app.ts'

/** The HTTP side in a process of its own, for tests that kill it: `node api-process.ts DATABASE_URL SECRET`. */
const [, , url, secret] = process.argv
const sql = connect(url!, { max: 10, name: 'tidings http' })
const numbering = await loadNumbering(sql)
const app = await buildApp({
  sql,
  clock: () => new Date(),
  numbering: () => numbering,
  log: pino({ level: 'fatal' }, pino.destination(2)),
  billingZone: 'Europe/Moscow',
  publicUrl: 'http://localhost:8080',
  trustedProxies: [],
  metrics: false,
  secret: secret!,
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`)
flushCompileCache() // now: a test may kill this process
