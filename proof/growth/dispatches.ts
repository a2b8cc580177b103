import { type Connection, jsonOf, requestBytes } from '../../bench/client.ts'
import { startRequest, untilCompleted } from '../../bench/engine.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from '../../bench/recipients.ts'
import type { Stage } from '../../bench/stage.ts'
import type { Axis, Side } from './sides.ts'

const MESSAGES = 100_000

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

/** From the first start until all are COMPLETED. They are created before. */
async function sendAll(stage: Stage, connection: Connection, count: number): Promise<number> {
  const ids: number[] = []
  while (ids.length < count) ids.push(await create(stage, connection, MESSAGES / count))
  const begun = performance.now()
  for (const id of ids) await connection.ask(startRequest(stage, id))
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
