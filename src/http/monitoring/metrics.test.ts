import Fastify from 'fastify'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { GuardLog } from '../guard-watch.ts'
import { registerMetrics } from './metrics.ts'

const db = useDatabase()

test('the time of the last error of a gateway is shown without its text; a gateway without errors has no time', async () => {
  const { gatewayId } = await aGateway(db.sql, { name: 'broken' })
  await aGateway(db.sql, { name: 'fine' })
  await db.sql`
    insert into gateway_states select ${gatewayId}, gen_random_uuid(), false, 0, 5, 0, 0, 0, 'no answer in time',
      '2026-03-01T12:00:00.500Z', clock_timestamp()`

  const metrics = await metricsNow()
  const told = metrics.match(/^tidings_gateway_last_error_timestamp_seconds\{.*$/gm)
  expect(told).toEqual([
    'tidings_gateway_last_error_timestamp_seconds{name="broken",channel="SMS",connector="simulator"} 1772366400.5',
  ])
  expect(metrics).toContain('tidings_gateway_up{name="fine",channel="SMS",connector="simulator"} 0')
  expect(metrics).not.toContain('no answer in time')
})

const log = pino({ level: 'silent' })

async function metricsNow(): Promise<string> {
  const app = Fastify()
  registerMetrics(app, { sql: db.sql, log, guard: new GuardLog(log), trustedProxies: [] })
  try {
    return (await app.inject('/metrics')).body
  } finally {
    await app.close()
  }
}
