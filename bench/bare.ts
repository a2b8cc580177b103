import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import postgres from 'postgres'
import type { Sql } from '../src/db/sql.ts'
import { selectDispatch, selectDispatchWithSums } from '../src/domain/dispatches/store.ts'
import { selectByPosition } from '../src/domain/messages/store.ts'
import { openBareDatabase } from './bare-database.ts'
import { serveParent } from './child.ts'

/**
 * The floor of the reads: the same statements behind routes that do nothing else. No token, no validation, no
 * presenter; rows go out as the driver gives them, with the names that our statements expect.
 */
const pool = openBareDatabase({ transform: postgres.camel })
const sql = pool as unknown as Sql
const partnerId = Number(process.env.PARTNER_ID)
const PER_PAGE = 100

const app = fastify({ forceCloseConnections: true }) // the bench may end with an error and open connections
app.get('/ping', async () => 'PONG')
app.get<{ Params: { id: number } }>('/dispatches/:id', async request => {
  const [dispatch] = await selectDispatchWithSums(sql, partnerId, request.params.id)
  return dispatch
})
app.get<{ Querystring: { dispatchId: number } }>('/messages', async request => {
  const [dispatch] = await selectDispatch(sql, partnerId, request.query.dispatchId)
  return selectByPosition(sql, dispatch!, 0, PER_PAGE)
})
await app.listen({ port: 0, host: '127.0.0.1' })

serveParent((app.server.address() as AddressInfo).port, async () => {
  await app.close()
  await pool.end({ timeout: 1 })
})
