import { UsageError } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../sql.ts'
import { managedTables, type Placement, placementOf } from './placement.ts'

export type DistributeOptions = { shards: number; onTable?: (table: string) => void }

/** Distribution copies all rows and blocks writers meanwhile. The time for this size was not measured. */
const MOST_BYTES = 2 * 1024 ** 3

/**
 * Distributes the tables of companies over the nodes of a Citus cluster, and returns their names. Later migrations
 * distribute their new tables themselves. Nothing happens when the tables are distributed already.
 */
export async function distribute(pool: Pool, { shards, onTable = () => {} }: DistributeOptions): Promise<string[]> {
  await requireCitus(pool)
  if (await isDistributed(pool)) return []
  await refuseLarge(pool)
  return placeTables(pool, shards, onTable)
}

async function requireCitus(sql: Sql) {
  const [extension] = await sql`select from pg_extension where extname = 'citus'`
  if (extension) return
  throw new UsageError(
    'The database has no extension citus, so its tables cannot be distributed. Install Citus on every node and run `create extension citus` in this database.',
  )
}

/** Whether the tables of companies are distributed in this database. */
export async function isDistributed(sql: Sql): Promise<boolean> {
  const [catalogue] = await sql`select from pg_class where oid = to_regclass('pg_dist_partition')`
  if (!catalogue) return false
  const [companies] = await sql`select from pg_dist_partition where logicalrelid = to_regclass('companies')`
  return companies !== undefined
}

async function refuseLarge(sql: Sql) {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname = any(${await tenantRelations(sql)}::text[])`
  const bytes = row?.bytes ?? 0
  if (bytes <= MOST_BYTES) return
  throw new UsageError(
    `The tables of companies hold ${gigabytes(bytes)} GB, and writers would be blocked while more than ${gigabytes(MOST_BYTES)} GB are copied. docs/citus.md tells how to move them.`,
  )
}

const gigabytes = (bytes: number) => (bytes / 1024 ** 3).toFixed(1)

/** Tables of companies and their partitions. */
async function tenantRelations(sql: Sql): Promise<string[]> {
  const tables = await unplacedTables(sql)
  return tables.flatMap(({ name, partitions }) => (placementOf(name) === 'company' ? [name, ...partitions] : []))
}

type Table = { name: string; partitions: string[]; references: string[] }

/** Tables whose place Citus does not know yet. A table of the coordinator needs no place. */
async function unplacedTables(sql: Sql): Promise<Table[]> {
  const tables = await sql<Table[]>`
    select c.relname as name,
      coalesce((select array_agg(p.relname::text) from pg_inherits i join pg_class p on p.oid = i.inhrelid
        where i.inhparent = c.oid), '{}') as partitions,
      coalesce((select array_agg(distinct f.confrelid::regclass::text) from pg_constraint f
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid), '{}') as references
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
    order by c.relname`
  return tables.filter(({ name }) => placementOf(name) !== 'coordinator')
}

/** In one transaction: after a failure nothing is distributed. */
function placeTables(pool: Pool, shards: number, onTable: (table: string) => void): Promise<string[]> {
  return pool.begin(async sql => {
    const tables = inOrderOfReferences(await unplacedTables(sql))
    if (tables.length === 0) return []
    await sql`set local citus.multi_shard_modify_mode to 'sequential'`
    await sql.unsafe(`set local citus.shard_count to ${Number(shards)}`)
    const keys = await untie(sql)
    for (const { name } of tables) {
      onTable(name)
      await place(sql, name, placementOf(name))
    }
    await tie(sql, keys)
    for (const name of managedTables) await sql`select commit_with_companies(${name})`
    await sql`select delegate_by_company()`
    await setOneConnection(sql)
    return tables.map(({ name }) => name)
  })
}

/** A statement over all companies asks the shards of a node one after the other, instead of with a connection for each. */
async function setOneConnection(sql: Transaction) {
  const [row] = await sql<{ name: string }[]>`select current_database() as name`
  await sql`alter database ${sql(row!.name)} set citus.max_adaptive_executor_pool_size = 1`
}

function place(sql: Transaction, table: string, placement: Placement) {
  if (placement === 'reference') return sql`select create_reference_table(${table})`
  if (table === 'companies')
    return sql`select create_distributed_table('companies', 'company_id', colocate_with => 'none')`
  return sql`select create_distributed_table(${table}, 'company_id', colocate_with => 'companies')`
}

/** Citus wants the table that a foreign key names before the table that has the key. */
function inOrderOfReferences(tables: Table[]): Table[] {
  const ordered: Table[] = []
  const rank = (table: Table): void => {
    if (ordered.includes(table)) return
    for (const other of tables) if (other !== table && table.references.includes(other.name)) rank(other)
    ordered.push(table)
  }
  const isReference = ({ name }: Table) => placementOf(name) === 'reference'
  for (const table of tables.filter(isReference)) rank(table)
  for (const table of tables.filter(({ name }) => name === 'companies')) rank(table)
  for (const table of tables) rank(table)
  return ordered
}

type ForeignKey = { name: string; from: string; to: string; definition: string }

/**
 * Drops the foreign keys between tables of different places: Citus cannot check them without asking other nodes. Returns
 * the keys from tables of companies to reference tables. They can be added again when both tables have their places.
 */
async function untie(sql: Transaction): Promise<ForeignKey[]> {
  const keys = await sql<ForeignKey[]>`
    select conname as name, conrelid::regclass::text as "from", confrelid::regclass::text as "to",
      pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`
  const across = keys.filter(({ from, to }) => placementOf(from) !== placementOf(to))
  for (const { name, from } of across) await sql`alter table ${sql(from)} drop constraint ${sql(name)}`
  return across.filter(({ from, to }) => placementOf(from) === 'company' && placementOf(to) === 'reference')
}

async function tie(sql: Transaction, keys: ForeignKey[]) {
  for (const { name, from, definition } of keys)
    await sql.unsafe(`alter table ${from} add constraint ${name} ${definition}`)
}
