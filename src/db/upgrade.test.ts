import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { databaseUrl } from '../testing/global-setup.ts'
import { type Migration, migrate, newestVersion, readMigrations, versionOf } from './migrate.ts'
import { connect, type Pool } from './sql.ts'

/**
 * The baseline: the migrations with which the first release starts. Databases of that release have them. Later versions
 * only add migrations.
 */
const baseline: Record<string, string> = {
  'partners-companies-and-people': 'b2288de00d407991296c88856bf72bb61ec5fa6277937897bee98b38df550614',
  'keys-and-requests': '9bfc239b612b92bf9c08f4136835ff8066cc4bf2178fc23b106fda381fbfebf6',
  'senders-and-templates': '5c78c5fd88728f517a4f1cfc8e87b7e822e9217c6d9c4f40d3fa1d07b61fdef3',
  numbering: 'a9afec00e3f61849631d6a52896d282f6dd01d253ecb9e7e0451cf502234650c',
  prices: 'a2d8395622a0c7f078b4b9ad53af9b26339edab5bed71b975e7ce288de253bac',
  'dispatches-and-messages': '80d275ce8b43f971bac9d3e145ef6c7bb8290d020b120945b03d3be8667ca029',
  engine: '5246b5b6c59f5e76d4313db0f85f748d8aa2aeb070604058660a72809ff6de04',
  'gateways-and-receipts': '2e99b04ec7f1ef0a6ba184b1cd11ee218bb8f0ff33889d7375644ac3df74820a',
  money: '22a85536158950f23e093ba5dfd6df64655525e825715abd539dd5564ab12807',
  callbacks: '6c61ab4c7429746a567eb80cc6bc1bc4ed88a268b29830432c357ea88447c68f',
  'inbound-and-subscribers': 'a7d75b3bebd49f07daba79f208b7c6fbacea1e067b19a04df243a808ae0619a4',
  'short-links': 'e0aa3a2295f609207f26fc273e5ff671cf87cd0370b79ac190e205174389ffcd',
  verification: 'd23d1c3d234b7b4597af4f99391fce0a315ac8c1d3faee30a2c11da75a7824d0',
  'statistics-and-audit': '749635b824d7aefa53921c2f61becf7b5ba7dc17cf92bc0c08b381c4c8603b86',
}

const baselineMigrations = async () => (await readMigrations()).filter(({ version }) => version <= BASELINE_VERSION)
const BASELINE_VERSION = Object.keys(baseline).length

test('the migrations of the baseline do not change', async () => {
  const found = (await baselineMigrations()).map(({ name, text }) => [name, hashOf(text)])
  expect(Object.fromEntries(found), 'migrations are forward only: add the next number').toEqual(baseline)
})

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

describe('a database at the baseline, with rows in every table', () => {
  test('has rows in every table', async () => {
    const rows = await readRows(await aBaselineDatabase())
    expect([...rows].filter(([, table]) => table.rows.length === 0).map(([name]) => name)).toEqual([])
    expect(rows.size).toBeGreaterThan(90)
  })

  /** A migration that changes rows on purpose is named here with the change that it makes. */
  test('reaches the newest version with its rows unchanged', async () => {
    const { applied, changes } = await upgraded(await readMigrations())
    expect(changes).toEqual([])
    expect(applied).toBe((await newestVersion()) - BASELINE_VERSION)
  })

  test('gets a new column and a new table, and keeps its rows', async () => {
    const { applied, changes } = await upgraded(
      await withNext(
        'alter table messages add column pretended int default 7; create table pretended (id int primary key)',
      ),
    )
    expect(changes).toEqual([])
    expect(applied).toBe((await newestVersion()) - BASELINE_VERSION + 1)
  })

  test.each([
    ['deletes a row', "delete from blacklist where destination = '79160000003'", 'blacklist: 1 of 2 rows changed'],
    ['changes a value', 'update accounts set balance = 0', 'accounts: 1 of 2 rows changed'],
    [
      'adds a row',
      "insert into blacklist (company_id, destination) values (2, '79160000004')",
      'blacklist: rows added: 1',
    ],
    ['drops a column', 'alter table companies drop column budget', 'companies: columns gone: budget'],
    ['drops a table', 'drop table late_receipts', 'late_receipts: the table is gone'],
  ])('notices a migration that %s', async (_, text, change) => {
    expect((await upgraded(await withNext(text))).changes).toEqual([change])
  })
})

async function withNext(text: string): Promise<Migration[]> {
  const migrations = await readMigrations()
  return [...migrations, { version: migrations.length + 1, name: 'pretended', text }]
}

async function upgraded(migrations: Migration[]) {
  const sql = await aBaselineDatabase()
  const before = await readRows(sql)
  const applied = await migrate(sql, { migrations })
  expect(await versionOf(sql)).toBe(migrations.length)
  const after = await readRows(sql, before)
  return {
    applied: applied.length,
    changes: [...before].flatMap(([name, rows]) => changesOf(name, rows, after.get(name))),
  }
}

type Rows = { columns: string[]; rows: string[] }

/** Only the tables and columns of `like`, if it is given. */
async function readRows(sql: Pool, like?: Map<string, Rows>): Promise<Map<string, Rows>> {
  const tables = await sql<{ name: string; columns: string[] }[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attname) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations'
    group by c.oid`
  const found = new Map<string, Rows>()
  for (const { name, columns } of tables) {
    const wanted = columns.filter(column => !like || like.get(name)?.columns.includes(column))
    if (like && !like.has(name)) continue
    const rows = await sql<{ row: string }[]>`
      select to_json(t)::text as row from (select ${sql(wanted)} from ${sql(name)}) t`
    found.set(name, { columns: wanted, rows: rows.map(({ row }) => row).sort() })
  }
  return found
}

function changesOf(name: string, before: Rows, after: Rows | undefined): string[] {
  if (!after) return [`${name}: the table is gone`]
  const gone = before.columns.filter(column => !after.columns.includes(column))
  if (gone.length > 0) return [`${name}: columns gone: ${gone.join(', ')}`]
  const changed = before.rows.filter(row => !after.rows.includes(row)).length
  if (changed > 0) return [`${name}: ${changed} of ${before.rows.length} rows changed`]
  const added = after.rows.length - before.rows.length
  return added === 0 ? [] : [`${name}: rows added: ${added}`]
}

const names: string[] = []
const pools: Pool[] = []
let template: string

beforeAll(async () => {
  template = await aDatabase()
  const sql = open(template)
  await migrate(sql, { migrations: await baselineMigrations() })
  await sql.unsafe(await readFile(new URL('../testing/baseline-rows.sql', import.meta.url), 'utf8'))
  await sql.end() // a database with connections cannot be a template
})

afterAll(async () => {
  for (const sql of pools) await sql.end({ timeout: 1 })
  for (const name of names) await onServer(admin => admin`drop database if exists ${admin(name)} with (force)`)
})

const aBaselineDatabase = async (): Promise<Pool> => open(await aDatabase(template))

async function aDatabase(from = 'template1'): Promise<string> {
  const name = `upgrade_${randomBytes(6).toString('hex')}`
  await onServer(admin => admin`create database ${admin(name)} template ${admin(from)} strategy file_copy`)
  names.push(name)
  return name
}

function open(name: string): Pool {
  const sql = connect(databaseUrl(inject('serverUrl'), name), { max: 2 })
  pools.push(sql)
  return sql
}

async function onServer(work: (admin: Pool) => Promise<unknown>) {
  const admin = connect(inject('serverUrl'), { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
