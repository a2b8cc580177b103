import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { countLockWaits, useDatabase } from '../../../testing/database.ts'
import { aGateway } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { removeGateway } from '../gateways.ts'
import { shareBinds } from './binds.ts'
import { saveAnswers, saveReceiptIds } from './receipt-ids.ts'

const db = useDatabase()
const worker = randomUUID()
const learnt = { relation: 'same', byAddress: true }

test('a worker of a gateway that was removed gets no binds, and no error', async () => {
  const { gatewayId } = await aGateway(db.sql)
  expect(await shareBinds(db.sql, gatewayId, worker, 2)).toEqual({ binds: [1, 2], tooMany: [] })
  await removeGateway(db.sql, gatewayId)
  expect(await shareBinds(db.sql, gatewayId, worker, 2)).toEqual({ binds: [], tooMany: [] })
  await saveReceiptIds(db.sql, gatewayId, learnt)
  await saveAnswers(db.sql, gatewayId, worker, { behindMs: 0, unanswered: 0, open: 0 })
})

test('neither does a worker that asks while the gateway is being removed', async () => {
  const { gatewayId } = await aGateway(db.sql)
  await shareBinds(db.sql, gatewayId, worker, 2)
  const asking = await db.sql.begin(async sql => {
    await removeGateway(sql, gatewayId)
    const asked = [shareBinds(db.sql, gatewayId, worker, 2), saveReceiptIds(db.sql, gatewayId, learnt)]
    for (const answer of asked) answer.catch(() => {}) // looked at below
    await eventually(async () => expect(await countLockWaits(db.sql)).toBe(2))
    return { asked }
  })
  expect(await Promise.all(asking.asked)).toEqual([{ binds: [], tooMany: [] }, []])
})
