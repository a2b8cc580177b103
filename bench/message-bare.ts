import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { openBareDatabase } from './bare-database.ts'
import { serveParent } from './child.ts'

/** The floor of reading a message: one SELECT by its primary key behind a route that does nothing else. */
const sql = openBareDatabase()
const companyId = Number(process.env.COMPANY_ID)

const app = fastify()
app.get<{ Querystring: { message_uuid: string } }>('/message', async request => {
  const [message] = await sql`
    select * from messages where company_id = ${companyId} and message_uuid = ${request.query.message_uuid}`
  return message
})
await app.listen({ port: 0, host: '127.0.0.1' })

serveParent((app.server.address() as AddressInfo).port, async () => {
  await app.close()
  await sql.end({ timeout: 1 })
})
