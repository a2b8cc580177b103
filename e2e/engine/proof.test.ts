import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import {
  acceptedBySimulators,
  aGateway,
  completed,
  expectPaid,
  handedOver,
  useEngines,
} from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngineProcess } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

/**
 * Most messages of one engine that are submitted but not recorded: a slice of each chunk, and the recorder's reports.
 */
const WINDOW = 3 * 1000 + 6000

/** Messages that the operator got and that we have not recorded. Only these may be sent again. */
async function unrecorded(dispatchId: number, since: number) {
  const [row] = await db.sql<{ count: number; last: number }[]>`
    select count(distinct s.message_uuid) filter (where m.status = 'CREATED') as count,
      coalesce(max(s.simulator_id), ${since}) as last
    from ${acceptedBySimulators(db.sql)} s join messages m on m.company_id = s.company_id and m.message_uuid = s.message_uuid
    where m.dispatch_id = ${dispatchId} and s.simulator_id > ${since}`
  return row!
}

/** Waits until PostgreSQL has ended the last statements of the killed process. */
const gone = () =>
  eventually(async () => {
    const alive = await db.sql`
      select from pg_stat_activity where datname = current_database() and application_name = 'tidings engine'`
    expect(alive).toHaveLength(0)
  })

test('an engine that is killed twenty times loses no message, repeats at most its window, and charges exactly', async () => {
  await aGateway(db.sql, { settings: { receiptMs: 30, submitMs: 5 } })
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(20_000))
  await start(db.sql, world, dispatchId)

  const windows: number[] = []
  let last = 0
  for (let kills = 0; kills < 20; kills++) {
    const engine = await anEngineProcess()
    await pause(Math.random() * 250)
    engine.kill('SIGKILL')
    await once(engine, 'exit')
    await gone()
    const window = await unrecorded(dispatchId, last)
    windows.push(window.count)
    last = window.last
    // The leases would run out after seconds. The test does not wait for that each time.
    await db.sql`update leases set claimed_until = '-infinity' where worker is not null`
  }
  await anEngineProcess()
  const dispatch = await completed(db.sql, world, dispatchId)

  expect(dispatch.messages).toEqual({ total: 20_000, delivered: 20_000, failed: 0, pending: 0 })
  const { times, messages } = await handedOver(db.sql, dispatchId)
  expect(messages).toBe(20_000)
  expect(Math.max(...windows)).toBeLessThanOrEqual(WINDOW)
  expect(times - messages).toBeLessThanOrEqual(windows.reduce((sum, window) => sum + window))
  await expectPaid(db.sql, world, dispatch.priceEstimate)
})
