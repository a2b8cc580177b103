import { describe, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import { dropOldMonths, type Filter, listEntries, recordChange } from './audit-log.ts'
import { type Actor, type Change, HIDDEN } from './entry.ts'

const db = useDatabase()

const operator: Actor = { kind: 'OPERATOR', name: 'root' }
const admin: Actor = {
  kind: 'STAFF',
  name: 'admin',
  personId: 7,
  address: '203.0.113.9',
  agent: 'Firefox',
  requestId: 'request-1',
}

const record = (change: Change, actor: Actor = operator) => db.sql.begin(tx => recordChange(tx, actor, change))
const entriesOf = async (filter: Filter, limit = 100) => (await listEntries(db.sql, filter, limit)).entries
const key = (id: number | string, more: Partial<Change> = {}): Change => ({
  what: 'key.changed',
  subject: { kind: 'key', id },
  ...more,
})

describe('an entry', () => {
  test('has actor, address, verb and subject, and only the fields that differ', async () => {
    const partner = await aPartner(db.sql)
    const companyId = await aCompany(db.sql, partner)
    const before = { addresses: [], active: true, note: undefined }
    await record(key(1, { companyId, before, after: { ...before, addresses: ['192.0.2.1'] } }), admin)
    expect(await entriesOf({ companyId })).toMatchObject([
      {
        actorKind: 'STAFF',
        actor: 'admin',
        personId: 7,
        address: '203.0.113.9',
        agent: 'Firefox',
        requestId: 'request-1',
        what: 'key.changed',
        subjectKind: 'key',
        subjectId: '1',
        companyId,
        companyName: 'Ромашка',
        partnerId: partner.partnerId,
        before: { addresses: [] },
        after: { addresses: ['192.0.2.1'] },
      },
    ])
  })

  test('of the command line has a system user and no address', async () => {
    await record(key('of-root'))
    const [entry] = await entriesOf({ subject: { kind: 'key', id: 'of-root' } })
    expect(entry).toMatchObject({
      actorKind: 'OPERATOR',
      actor: 'root',
      personId: null,
      address: null,
      requestId: null,
    })
  })

  test('is not written without a change', async () => {
    await record(key('same', { before: { active: true }, after: { active: true } }))
    expect(await entriesOf({ subject: { kind: 'key', id: 'same' } })).toEqual([])
  })

  test('belongs to the transaction of its change: a failed transaction leaves no entry', async () => {
    const failing = db.sql.begin(async tx => {
      await recordChange(tx, operator, key('failed'))
      throw new Error('later')
    })
    await expect(failing).rejects.toThrow('later')
    expect(await entriesOf({ subject: { kind: 'key', id: 'failed' } })).toEqual([])
  })

  test.each([
    { password: 'correct horse' },
    { settings: { apiToken: 'abc' } },
    { passwordHash: 'abc' },
    { list: [{ captchaSecret: 'abc' }] },
    { key: 'abc' },
  ])('with a secret is refused: %o', async after => {
    await expect(record(key('secret', { after }))).rejects.toThrow('is a secret')
  })

  test('may show that a secret changed', async () => {
    await record(key('hidden', { before: { password: HIDDEN }, after: { password: HIDDEN } }))
    const [entry] = await entriesOf({ subject: { kind: 'key', id: 'hidden' } })
    expect(entry!.after).toEqual({ password: HIDDEN })
  })

  test('of a new month makes the table of the month, also when several begin the month together', async () => {
    await db.sql`select ensure_audit_month(now() + interval '40 days')`
    await Promise.all([1, 2, 3, 4].map(() => db.sql`select ensure_audit_month(now() + interval '80 days')`))
    const [row] = await db.sql`
      select count(*)::int as count from pg_inherits where inhparent = 'audit_entries'::regclass`
    expect(row!.count).toBeGreaterThanOrEqual(3)
  })
})

describe('the log only grows', () => {
  const month = `audit_entries_${new Date().toISOString().slice(0, 7).replace('-', '_')}`

  test.each([
    'update audit_entries set actor = $$another$$',
    'delete from audit_entries',
    'truncate audit_entries',
    `update ${month} set actor = $$another$$`,
    `delete from ${month}`,
    `truncate ${month}`,
  ])('%s is refused', async statement => {
    await record(key('kept'))
    await expect(db.sql.unsafe(statement)).rejects.toThrow('the audit log can only grow')
    expect(await entriesOf({ subject: { kind: 'key', id: 'kept' } })).not.toEqual([])
  })

  test('a role with no more than select and insert writes entries, and begins a new month', async () => {
    await db.sql.unsafe(`
      drop role if exists audit_test_service;
      create role audit_test_service;
      grant select on all tables in schema public to audit_test_service;
      grant insert on audit_entries to audit_test_service`)
    try {
      await db.sql.begin(async tx => {
        await tx`set local role audit_test_service`
        await tx`select ensure_audit_month(now() + interval '120 days')`
        await recordChange(tx, operator, key('by-service'))
      })
      expect(await entriesOf({ subject: { kind: 'key', id: 'by-service' } })).toHaveLength(1)
      const asService = (statement: string) =>
        db.sql.begin(async tx => {
          await tx`set local role audit_test_service`
          await tx.unsafe(statement)
        })
      await expect(asService('alter table audit_entries disable trigger all')).rejects.toThrow('must be owner')
      await expect(asService(`drop table ${month}`)).rejects.toThrow('must be owner')
      await expect(asService('delete from audit_entries')).rejects.toThrow('permission denied')
    } finally {
      await db.sql.unsafe('drop owned by audit_test_service; drop role audit_test_service')
    }
  })

  test('whole months of more than a year ago can be dropped, younger ones cannot', async () => {
    await db.sql`select ensure_audit_month('2024-03-10'), ensure_audit_month('2024-04-10')`
    await db.sql`
      insert into audit_entries (at, actor_kind, actor, what, subject_kind, subject_id, subject_name)
      values ('2024-03-10', 'OPERATOR', 'root', 'key.changed', 'key', 'old', ''),
        ('2024-04-10', 'OPERATOR', 'root', 'key.changed', 'key', 'old', '')`
    const drop = (before: string) =>
      db.sql.begin(tx => dropOldMonths(tx, new Date(before), new Date('2026-05-17T00:00:00Z')))
    await expect(drop('2025-05-18T00:00:00Z')).rejects.toThrow('the last twelve months are kept')
    expect(await drop('2024-04-20T00:00:00Z')).toEqual({ months: ['2024-03'], entries: 1 })
    expect(await entriesOf({ subject: { kind: 'key', id: 'old' } })).toHaveLength(1)
  })
})

describe('the list', () => {
  test('is read in pages, the newest first, each entry once', async () => {
    const { partnerId } = await aPartner(db.sql)
    await db.sql.begin(async tx => {
      for (let id = 1; id <= 7; id++) await recordChange(tx, operator, key(id, { partnerId })) // all at one moment
    })
    const seen: string[] = []
    let after: Filter['after']
    do {
      const page = await listEntries(db.sql, { partnerId, after }, 3)
      seen.push(...page.entries.map(({ subjectId }) => subjectId))
      after = page.next
    } while (after)
    expect(seen).toEqual(['7', '6', '5', '4', '3', '2', '1'])
  })

  const companyId = 900_000_001
  const filters: [string, Filter][] = [
    ['everything', {}],
    ['a company', { companyId }],
    ['a partner', { partnerId: 900_000_001 }],
    ['an actor', { actor: 'rare' }],
    ['a subject', { subject: { kind: 'key', id: 'rare' } }],
    ['a kind of change', { what: 'audit_log.dropped' }],
    ['a period', { from: new Date('2026-01-02T00:00:00Z'), to: new Date('2026-01-02T01:00:00Z') }],
    ['an older page', { after: { at: new Date('2026-01-05T00:00:00Z'), entryId: 1 } }],
  ]

  test('costs the same in a long log: each filter reads by an index and hardly more than it shows', async () => {
    await db.sql`select ensure_audit_month('2026-01-10')`
    await db.sql`
      insert into audit_entries (at, actor_kind, actor, what, subject_kind, subject_id, subject_name, company_id, partner_id)
      select '2026-01-01'::timestamptz + n * interval '1 minute', 'OPERATOR', case when n % 4000 = 0 then 'rare' else 'root' end,
        case when n % 4000 = 0 then 'audit_log.dropped' else 'key.changed' end, 'key',
        case when n % 4000 = 0 then 'rare' else n::text end, '', case when n % 4000 = 0 then ${companyId} else 1 end,
        case when n % 4000 = 0 then 900000001 else 1 end
      from generate_series(1, 20000) n`
    await db.sql`analyze audit_entries`
    for (const mode of planModes) {
      for (const [name, filter] of filters) {
        const work = (sql: typeof db.sql) => listEntries(sql, filter, 10)
        const reads = (await readsOf(db, mode, work, /audit_entries/)).filter(({ table }) => /audit/.test(table))
        const rows = reads.reduce((sum, read) => sum + read.rows, 0)
        expect(rows, `${name}: ${JSON.stringify(reads)}`).toBeLessThan(100)
        expect(reads.filter(({ table, index }) => table === 'audit_entries_2026_01' && !index)).toEqual([])
      }
    }
  })
})
