import { expect, inject, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { distribute, isDistributed } from './distribute.ts'
import { placementOf } from './placement.ts'

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
