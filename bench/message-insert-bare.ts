import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { uuid7 } from '../src/base/uuid7.ts'
import { openBareDatabase } from './bare-database.ts'
import { serveParent } from './child.ts'

/**
 * The floor of taking a message: one INSERT of a row like a message's behind a route that does nothing else. No key,
 * no validation, no routing, no price, no budget, no place in a queue.
 */
const sql = openBareDatabase()
const companyId = Number(process.env.COMPANY_ID)

type Form = { channelType: string; senderName: string; destination: string; content: string; externalMessageId: string }

const app = fastify()
app.post<{ Body: Form }>('/message', async ({ body }) => {
  const uuid = uuid7(new Date())
  await sql`
    insert into messages (company_id, message_uuid, lane_id, seq, sender_id, tariff_id, price, status, parts, brand_id,
      destination, text, channel_type, sender_name, external_id, center_id, sending_method, traffic_type, options,
      waits_until, key_id)
    values (${companyId}, ${uuid}, 1000000000, 1, 1, 1, 3.9, 'CREATED', 1, 1, ${body.destination}, ${body.content},
      ${body.channelType}, ${body.senderName}, ${body.externalMessageId}, 1, 'API', 'PROMO',
      '{"shortUrl": false, "useLocalTime": true}', now() + interval '25 hours', 1)`
  return { errors: false, items: [{ messageUuid: uuid, code: 201, externalMessageId: body.externalMessageId }] }
})
await app.listen({ port: 0, host: '127.0.0.1' })

serveParent((app.server.address() as AddressInfo).port, async () => {
  await app.close()
  await sql.end({ timeout: 1 })
})
