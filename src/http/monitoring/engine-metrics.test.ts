import { tmpdir } from 'node:os'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { recordEngine } from '../../domain/engines/engines.ts'
import { checkNames } from '../../domain/health/checks.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../testing/world.ts'
import { engineMetrics } from './engine-metrics.ts'

const db = useDatabase()

test('the metrics tell the messages and lanes that wait, and the state of each engine', async () => {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(30))
  await start(db.sql, world, dispatchId)
  await recordEngine(db.sql, '00000000-0000-4000-8000-000000000001', -7000, {
    host: 'one',
    pid: 7,
    loopDelayMs: 250,
    unrecorded: 12,
    memoryBytes: 5000,
  })

  const before = await metricsNow()
  expect(before).toContain('tidings_engines 1')
  expect(before).toContain('tidings_messages_waiting 30')
  expect(before).toMatch(/^tidings_lanes_waiting [1-9]/m)
  expect(before).toContain('tidings_callbacks_waiting 0')
  expect(before).toContain('tidings_engine_unrecorded{host="one",pid="7"} 12')
  expect(before).toContain('tidings_engine_loop_delay_seconds{host="one",pid="7"} 0.25')
  expect(before).toContain('tidings_engine_memory_bytes{host="one",pid="7"} 5000')
  expect(before).toContain('tidings_engine_clock_off_seconds{host="one",pid="7"} 7')
  expect(before).toMatch(/^tidings_engine_start_time_seconds\{host="one",pid="7"\} \d{10}/m)

  await db.sql`update engines set seen_at = now() - interval '1 minute'`
  const after = await metricsNow()
  expect(after).toContain('tidings_engines 0')
  expect(after).not.toContain('tidings_engine_unrecorded{')
})

test('the metrics tell the state of the database and the result of each check', async () => {
  const metrics = await metricsNow()
  expect(metrics).toContain('tidings_database_up 1')
  for (const name of ['connections', 'connections_most', 'bytes', 'transaction_id_age'])
    expect(metrics).toMatch(new RegExp(`^tidings_database_${name} [1-9]`, 'm'))
  expect(metrics).toMatch(/^tidings_database_longest_transaction_seconds \d/m)
  expect(metrics).toMatch(/^tidings_disk_free_bytes [1-9]/m)
  expect(metrics).not.toMatch(/^tidings_standby_behind_bytes/m) // there is no standby
  expect(metrics).toContain('tidings_standbys 0\n')
  expect(metrics).not.toMatch(/^tidings_nodes/m) // there is no cluster
  const told = [...metrics.matchAll(/^tidings_health_level\{check="(\w+)"\} [012]$/gm)].map(([, name]) => name)
  expect(told).toEqual(checkNames.filter(name => name !== 'replication' && name !== 'nodes'))
})

async function metricsNow(): Promise<string> {
  const registry = new Registry()
  await engineMetrics(registry).refresh(db.sql, new Date(), tmpdir())
  return registry.metrics()
}
