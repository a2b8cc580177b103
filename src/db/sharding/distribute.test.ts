import postgres from 'postgres'
import { expect, inject, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { distribute, isDistributed } from './distribute.ts'
import { managedTables, placementOf } from './placement.ts'

const db = useDatabase()
const isCluster = inject('workerUrls').length > 0

test.skipIf(isCluster)('a database without Citus is refused with one sentence, and nothing changes', async () => {
  await expect(distribute(db.sql, { shards: 4 })).rejects.toThrow(
    /^The database has no extension citus, .*create extension citus/,
  )
  expect(await isDistributed(db.sql)).toBe(false)
})

test.skipIf(isCluster)(
  'in a database without Citus, a migration may call the function that distributes a table',
  async () => {
    await db.sql`create table shelves (company_id bigint, shelf_id bigint, primary key (company_id, shelf_id))`
    await db.sql`select distribute_by_company('shelves')`
    await db.sql`drop table shelves`
  },
)

test.skipIf(!isCluster)(
  'in a Citus cluster: every table has its place, and a later migration distributes its table',
  async () => {
    expect(await isDistributed(db.sql)).toBe(true)
    await db.sql`create table shelves (company_id bigint, shelf_id bigint, primary key (company_id, shelf_id))`
    await db.sql`select distribute_by_company('shelves')`
    const tables = await db.sql<{ name: string; kind: string | null; colocated: boolean }[]>`
    select c.relname as name, p.partmethod as kind,
      p.colocationid = (select colocationid from pg_dist_partition where logicalrelid = 'companies'::regclass) as colocated
    from pg_class c left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`
    const misplaced = tables.filter(({ name, kind, colocated }) =>
      placementOf(name) === 'company' ? kind !== 'h' || !colocated : kind === 'h',
    )
    expect(misplaced).toEqual([])
    await db.sql`drop table shelves`
  },
)

test.skipIf(!isCluster).each([...managedTables])('Citus knows the table %s of the coordinator', async table => {
  const [row] = await db.sql`select partmethod as kind from pg_dist_partition where logicalrelid = ${table}::regclass`
  expect(row).toEqual({ kind: 'n' })
})

test.skipIf(!isCluster)(
  'in a Citus cluster: a migration makes a table of the coordinator commit with rows of companies, also later',
  async () => {
    const notices: string[] = []
    const sql = postgres(db.url, { max: 1, onnotice: ({ message }) => notices.push(message!) })
    await sql`create table shelves (kind text check (kind <> ''), at date, gateway_id bigint references gateways) partition by range (at)`
    await sql`insert into companies (partner_id, name, counteragent_type, counteragent_name, counteragent_inn, currency)
      values (1, 'Весна', 'LEGAL', 'Весна', '7700000001', 'RUB')`
    const phases = async () => {
      notices.length = 0
      await sql.begin(async tx => {
        await tx`set local citus.log_remote_commands = on`
        await tx`insert into shelves values ('A', '2026-01-01')`
        await tx`update companies set name = 'Осень' where company_id = 1`
      })
      return notices
        .filter(notice => /^issuing (prepare transaction|commit)/i.test(notice))
        .map(notice => notice.split(' ')[1])
    }
    const addMonth = async (name: string, from: string, to: string) => {
      await sql.unsafe(`create table ${name} (like shelves including defaults including constraints)`)
      await sql.unsafe(`alter table shelves attach partition ${name} for values from ('${from}') to ('${to}')`)
    }
    await addMonth('shelves_1', '2026-01-01', '2026-02-01')
    expect(await phases()).toEqual(['COMMIT'])
    for (let i = 0; i < 2; i++) await sql`select commit_with_companies('shelves')`
    await addMonth('shelves_2', '2026-02-01', '2026-03-01')
    expect(await phases()).toEqual(['PREPARE', 'COMMIT'])
    await sql`drop table shelves`
    await sql.end()
  },
)
