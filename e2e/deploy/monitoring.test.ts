import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { recordEngine } from '../../src/domain/engines/engines.ts'
import { GuardLog } from '../../src/http/guard-watch.ts'
import { registerMetrics } from '../../src/http/monitoring/metrics.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { has, outcomeOf, root } from './programs.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8')

type Panel = { title: string; type: string; targets?: { expr: string }[] }
type Rules = { groups: { rules: { alert: string; expr: string }[] }[] }

const panels: Panel[] = JSON.parse(read('grafana/dashboards/tidings.json')).panels
const rules = (parse(read('prometheus/alerts.yml')) as Rules).groups.flatMap(group => group.rules)

/** Metrics by their names in `/metrics`, histograms with all their series. */
let served: Set<string>

beforeAll(async () => {
  const { gatewayId } = await aGateway(db.sql, { name: 'one' })
  await db.sql`
    insert into gateway_states select ${gatewayId}, gen_random_uuid(), true, 1, 5, 0, 0, 0, 'an error',
      clock_timestamp(), clock_timestamp()`
  await recordEngine(db.sql, '00000000-0000-4000-8000-000000000001', 0, {
    host: 'one',
    pid: 7,
    loopDelayMs: 1,
    unrecorded: 1,
  })
  const app = Fastify()
  registerMetrics(app, { sql: db.sql, log, guard: new GuardLog(log), trustedProxies: [] })
  await app.inject('/metrics') // the first request is in the figures of the second
  const { body } = await app.inject('/metrics')
  await app.close()
  served = new Set([...body.matchAll(/^([a-z]\w*)(?=[ {])/gm)].map(([, name]) => name!))
  for (const [, name] of body.matchAll(/^# TYPE (\S+) counter$/gm)) served.add(name!) // without a value before its first event
})

const named = (expression: string) => expression.match(/\b(?:tidings|process|nodejs)_\w+/g) ?? []

describe('the service serves every metric', () => {
  test.each(panels.filter(({ targets }) => targets))('of the panel "$title"', ({ targets }) => {
    const names = targets!.flatMap(({ expr }) => named(expr))
    expect(names).not.toEqual([])
    expect(names.filter(name => !served.has(name))).toEqual([])
  })

  test.each(rules)('of the alert $alert', ({ expr }) => {
    expect(named(expr).filter(name => !served.has(name))).toEqual([])
  })
})

test('every figure of Tidings is on the dashboard', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => named(expr))))
  const ours = [...served].filter(name => name.startsWith('tidings_') && !name.endsWith('_sum'))
  const elsewhere = ['tidings_gateway_paused'] // a condition of an alert
  expect(ours.filter(name => !shown.has(name) && !elsewhere.includes(name))).toEqual([])
})

test.skipIf(!has('promtool'))('Prometheus reads its files (skipped without promtool, package prometheus)', () => {
  const { status, output } = outcomeOf('promtool', ['check', 'config', join(root, 'deploy/prometheus/prometheus.yml')])
  expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' })
})
