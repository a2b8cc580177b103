import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import { recordEngine } from '../../../domain/engines/engines.ts'
import { healthOf } from '../../../domain/health/health.ts'
import { recordApi } from '../../../domain/health/processes.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { eventually } from '../../../testing/eventually.ts'
import { aCompany, aPartner } from '../../../testing/factories.ts'
import { isCluster } from '../../../testing/one-server.ts'
import type { HealthAnswer } from './health.ts'

const { api } = useApp('/docs/partner.json')
const vitals = { host: 'one', pid: 7, version: '0.1.0', memoryBytes: 1024, loopDelayMs: 3 }
const [alive, killed, slow] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  await recordEngine(api.sql, killed, 0, vitals)
  await api.sql`update engines set seen_at = now() - interval '11 seconds' where worker = ${killed}`
  await beat()
})

async function beat() {
  await recordEngine(api.sql, alive, 0, { ...vitals, unrecorded: 2 })
  await recordApi(api.sql, slow, 7000, { ...vitals, schemaVersion: 15, loopDelayMs: 2000 })
}

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  await browser.signIn(login)
  return browser
}

const report = (now = new Date()) => healthOf({ sql: api.sql, now, dataFolder: tmpdir() })

/** On a busy machine a part may not answer in time. Then it is read again. */
const levelsAre = (levels: Record<string, string>) =>
  eventually(async () => {
    const { checks } = await report()
    expect(Object.fromEntries(checks.map(({ name, level }) => [name, level]))).toMatchObject(levels)
  })

describe('health', () => {
  test('shows every process: a process without a heartbeat is gone, and a wrong clock or a long delay needs attention', async () => {
    await eventually(async () => {
      await beat()
      const { processes, checks } = await report()
      const known = new Map(processes!.map(process => [process.id, process]))
      expect(known.get(alive)).toMatchObject({ kind: 'engine', level: 'ok', problems: [], host: 'one', unrecorded: 2 })
      expect(known.get(killed)).toMatchObject({ kind: 'engine', level: 'bad', problems: ['gone'] })
      expect(known.get(slow)).toMatchObject({ kind: 'api', level: 'look', problems: ['clock', 'delay'] })
      const engines = checks.find(({ name }) => name === 'engines')
      expect(engines).toEqual({ name: 'engines', level: 'ok', facts: { count: 1 } })
    })
  })

  test('measures the database, the queues and the disk', async () => {
    const checks = await eventually(async () => {
      const { checks } = await report()
      expect(checks.filter(({ level }) => level === 'unknown')).toEqual([])
      return checks
    })
    const facts = Object.fromEntries(checks.map(check => [check.name, check.facts]))
    const [server] = await api.sql<{ most: number }[]>`select current_setting('max_connections')::int as most`
    expect(facts).toMatchObject({
      connections: { used: expect.any(Number), most: isCluster ? expect.any(Number) : server!.most },
      months: { months: expect.any(Number), newest: expect.stringMatching(/^\d{4}_\d\d$/) },
      database: { version: expect.any(String), sizeBytes: expect.any(Number) },
      schema: { version: expect.any(Number) },
      disk: { free: expect.any(Number), all: expect.any(Number) },
    })
  })

  test('shows paused receivers and missing months', async () => {
    await levelsAre({ callbacks: 'ok', months: 'ok' })
    const companyId = await aCompany(api.sql, await aPartner(api.sql))
    await api.sql`insert into receivers (company_id, receiver, failures) values (${companyId}, 'shop.example', 20)`
    const next = new Date()
    next.setUTCMonth(next.getUTCMonth() + 1, 1)
    const table = `messages_${next.toISOString().slice(0, 7).replace('-', '_')}`
    await api.sql`drop table ${api.sql(table)}`
    await levelsAre({ callbacks: 'look', months: 'bad' })
  })

  test('a part that does not answer in time is unknown, and the other parts are shown', async () => {
    const { promise: isLocked, resolve } = Promise.withResolvers<void>()
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const locking = api.sql.begin(async tx => {
      await tx`lock table receipt_inbox in access exclusive mode`
      resolve()
      await isOver
    })
    await isLocked
    await levelsAre({ receipts: 'unknown', database: 'ok' })
    end()
    await locking
    await levelsAre({ receipts: 'ok' })
  })
})

test('only people with the right see it', async () => {
  const companyId = await aCompany(api.sql, await aPartner(api.sql))
  const { partnerId } = await aPartner(api.sql)
  for (const place of [ofCompany(companyId), ofPartner(partnerId)])
    expect((await (await signedIn(place, 'owner')).ask('GET', '/health')).status).toBe(403)
  expect((await (await signedIn(staff, 'moderator')).ask('GET', '/health')).status).toBe(403)
  const support = await signedIn(staff, 'support')
  await eventually(async () => {
    const { status, body } = await support.ask('GET', '/health')
    expect([status, (body as HealthAnswer).processes?.length]).toEqual([200, 3])
  })
})
