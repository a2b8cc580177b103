import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { versionOfProgram } from '../../base/process/vitals.ts'
import { newestVersion } from '../../db/migrate.ts'
import { connect } from '../../db/sql.ts'
import { recordEngine } from '../../domain/engines/engines.ts'
import { recordApi } from '../../domain/health/processes.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { freePort } from '../../testing/free-port.ts'
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

test('the versions of the program, of the schema and of all running processes are shown', async () => {
  const vitals = { host: 'one', pid: 7, version: '0.0.9', memoryBytes: 1, loopDelayMs: 0 }
  await recordEngine(db.sql, randomUUID(), 0, { ...vitals, schemaVersion: 15 })
  await recordEngine(db.sql, randomUUID(), 0, { ...vitals, schemaVersion: 15 })
  await recordEngine(db.sql, randomUUID(), 0, vitals) // of a program that does not state it
  const gone = randomUUID()
  await recordApi(db.sql, gone, 0, { ...vitals, schemaVersion: 15 })
  await db.sql`update api_processes set seen_at = now() - interval '1 minute' where process = ${gone}`
  await recordApi(db.sql, randomUUID(), 0, { ...vitals, schemaVersion: 16 })

  const schema = await newestVersion()
  const metrics = await metricsNow()
  expect(metrics).toContain(`tidings_build_info{version="${versionOfProgram()}",schema="${schema}"} 1`)
  expect(metrics).toContain(`tidings_schema_version ${schema}\n`)
  expect(metrics).toContain('tidings_schema_minimum_version 0\n')
  expect(metrics.match(/^tidings_processes\{.*$/gm)?.toSorted()).toEqual([
    'tidings_processes{kind="api",version="0.0.9",schema="16"} 1',
    'tidings_processes{kind="engine",version="0.0.9",schema="15"} 2',
    'tidings_processes{kind="engine",version="0.0.9",schema="unknown"} 1',
  ])
})

test('the messages of the current hour are counted by channel and result', async () => {
  const companyId = await aCompany(db.sql, await aPartner(db.sql))
  // Again if the hour has changed meanwhile.
  await eventually(async () => {
    await db.sql`delete from traffic_hours`
    await db.sql`
      insert into traffic_hours (company_id, hour, channel_type, brand_id, traffic_type, accepted, sent, delivered, failed)
      select ${companyId}, date_trunc('hour', now()) - make_interval(hours => back), 'SMS', brand, 'SERVICE', 9, 7, 5, 1
      from generate_series(0, 1) back, unnest('{1,2}'::int[]) brand`
    const metrics = await metricsNow()
    for (const [result, count] of Object.entries({ accepted: 18, sent: 14, delivered: 10, failed: 2 }))
      expect(metrics).toContain(`tidings_messages_total{channel="SMS",result="${result}"} ${count}\n`)
    expect(metrics).toContain('tidings_messages_total{channel="VIBER",result="failed"} 0\n')
  })
})

test('without a database, the metrics of the process are served, and no figure of the database is 0', async () => {
  const gone = connect(`postgres://tidings@localhost:${await freePort()}/tidings`, { max: 2 })
  try {
    const metrics = await metricsNow(gone)
    expect(metrics).toMatch(/^process_start_time_seconds \d/m)
    expect(metrics.match(/^tidings_(?!build_info|verification_refused).*$/gm)).toEqual(['tidings_database_up 0'])
  } finally {
    await gone.end({ timeout: 0 })
  }
})

test('companies without money left are counted when they spent some this month', async () => {
  const partner = await aPartner(db.sql)
  const spend = async (billing: string, budget: string | null, balance: string, spent: string) => {
    const companyId = await aCompany(db.sql, partner)
    await db.sql`update companies set billing = ${billing}, budget = ${budget}::text::numeric where company_id = ${companyId}`
    await db.sql`update accounts set balance = ${balance}::text::numeric where company_id = ${companyId}`
    await db.sql`
      insert into account_months (company_id, month, spent)
      values (${companyId}, date_trunc('month', now() at time zone 'UTC')::date, ${spent}::text::numeric)`
  }
  await spend('POSTPAID', '100', '0', '100')
  await spend('POSTPAID', '100', '0', '99')
  await spend('POSTPAID', null, '0', '99')
  await spend('POSTPAID', '0', '0', '0') // it has never sent anything
  await spend('PREPAID', null, '0', '5')
  await spend('PREPAID', null, '1', '5')
  const metrics = await metricsNow()
  expect(metrics).toContain('tidings_companies_exhausted{kind="budget"} 1\n')
  expect(metrics).toContain('tidings_companies_exhausted{kind="balance"} 1\n')
})

const log = pino({ level: 'silent' })

async function metricsNow(sql = db.sql): Promise<string> {
  const app = Fastify()
  registerMetrics(app, { sql, log, guard: new GuardLog(log), trustedProxies: [], billingZone: 'UTC' })
  try {
    return (await app.inject('/metrics')).body
  } finally {
    await app.close()
  }
}
