import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { recordEngine } from '../../domain/engines/engines.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../testing/world.ts'
import { engineMetrics } from './engine-metrics.ts'

const db = useDatabase()

test('the metrics tell the messages and lanes that wait, and the state of each engine', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(30))
  await start(db.sql, world, dispatchId)
  await recordEngine(db.sql, '00000000-0000-4000-8000-000000000001', 0, {
    host: 'one',
    pid: 7,
    loopDelayMs: 250,
    unrecorded: 12,
  })

  const before = await metricsNow()
  expect(before).toContain('tidings_engines 1')
  expect(before).toContain('tidings_messages_waiting 30')
  expect(before).toMatch(/^tidings_lanes_waiting [1-9]/m)
  expect(before).toContain('tidings_callbacks_waiting 0')
  expect(before).toContain('tidings_engine_unrecorded{host="one",pid="7"} 12')
  expect(before).toContain('tidings_engine_loop_delay_seconds{host="one",pid="7"} 0.25')

  await db.sql`update engines set seen_at = now() - interval '1 minute'`
  const after = await metricsNow()
  expect(after).toContain('tidings_engines 0')
  expect(after).not.toContain('tidings_engine_unrecorded{')
})

async function metricsNow(): Promise<string> {
  const registry = new Registry()
  await engineMetrics(registry).refresh(db.sql, new Date())
  return registry.metrics()
}
