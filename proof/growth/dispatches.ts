import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, jsonOf, requestBytes } from '../../bench/client.ts'
import { startRequest, untilCompleted } from '../../bench/engine.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from '../../bench/recipients.ts'
import type { Stage } from '../../bench/stage.ts'
import { requireGateway } from '../../src/domain/gateways/gateways.ts'
import { pauseGateway } from './pause-gateway.ts'
import type { Axis, Side } from './sides.ts'

const MESSAGES = 100_000
/** An engine reads a change of a gateway within a second. */
const ENGINES_KNOW_MS = 1500

/** The same number of messages in one dispatch, and in a thousand that run at the same time. */
export const dispatches: Axis = {
  name: 'dispatches',
  about: `${MESSAGES.toLocaleString('en')} messages in one running dispatch or in 1,000`,
  sides: [1, 1000].map(
    (count): Side => ({
      label: count.toLocaleString('en'),
      send: (stage, connection) => sendAll(stage, connection, count),
    }),
  ),
}

/** They are created and started while the gateway is paused. The time counts from its resumption until all are COMPLETED. */
async function sendAll(stage: Stage, connection: Connection, count: number): Promise<number> {
  const gateway = await requireGateway(stage.sql, 'simulator')
  await pauseGateway(stage.sql, gateway, true)
  await pause(ENGINES_KNOW_MS)
  const ids: number[] = []
  while (ids.length < count) ids.push(await create(stage, connection, MESSAGES / count))
  for (const id of ids) await connection.ask(startRequest(stage, id))
  await pauseGateway(stage.sql, gateway, false)
  const begun = performance.now()
  await untilCompleted(stage, ids)
  return (MESSAGES * 1000) / (performance.now() - begun)
}

async function create(stage: Stage, connection: Connection, messages: number): Promise<number> {
  const { token } = stage.partner
  const first = inventRecipients(Math.min(messages, REQUEST_SIZE))
  const { id } = jsonOf(
    await connection.ask(requestBytes(token, 'POST /partner/v1/dispatches', dispatchOf(stage, first))),
  )
  const more = requestBytes(token, `POST /partner/v1/dispatches/${id}/messages`, { messages: first })
  for (let added = first.length; added < messages; added += first.length) await connection.ask(more)
  return id
}
