import type { Sql } from './sql.ts'

/**
 * The schema as text, read from the catalogue: types, tables with their columns and constraints, indexes, functions,
 * each by name. The months of messages and of the audit log depend on the date and are left out; data is none of its business. The same on
 * every version of PostgreSQL that we support: constraints `not null` stand with their columns, and whatever a newer
 * version would add to them elsewhere is not asked for.
 */
export async function dumpSchema(sql: Sql): Promise<string> {
  const parts = [await dumpEnums(sql), await dumpTables(sql), await dumpFunctions(sql)]
  return `${HEADING}\n${parts.flat().join('\n\n')}\n`
}

const HEADING = `-- What the migrations make of an empty database. Printed by \`npm run db:dump\`: change a migration, not this file.
`

async function dumpEnums(sql: Sql): Promise<string[]> {
  const enums = await sql<{ name: string; labels: string[] }[]>`
    select t.typname as name, array_agg(quote_literal(e.enumlabel) order by e.enumsortorder) as labels
    from pg_type t join pg_enum e on e.enumtypid = t.oid
    where t.typnamespace = 'public'::regnamespace
    group by t.typname order by t.typname`
  return enums.map(({ name, labels }) => `create type ${name} as enum (${labels.join(', ')});`)
}

type Table = { oid: number; name: string; partitioning: string | null }

async function dumpTables(sql: Sql): Promise<string[]> {
  const tables = await sql<Table[]>`
    select oid::int, quote_ident(relname) as name, pg_get_partkeydef(oid) as partitioning
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`
  const dumps: string[] = []
  for (const table of tables) dumps.push(await dumpTable(sql, table))
  return dumps
}

/** One table with what belongs to it, as statements that make it. */
export async function dumpTable(sql: Sql, { oid, name, partitioning }: Table): Promise<string> {
  const lines = [...(await columnsOf(sql, oid)), ...(await constraintsOf(sql, oid))]
  const end = partitioning ? `) partition by ${partitioning};` : ');'
  return [
    `create table ${name} (`,
    lines.map(line => `  ${line}`).join(',\n'),
    end,
    ...(await storageOf(sql, oid, name)),
    ...(await indexesOf(sql, oid)),
    ...(await triggersOf(sql, oid)),
  ].join('\n')
}

type Column = {
  name: string
  type: string
  required: boolean
  expression: string | null
  identity: string
  generated: string
}

async function columnsOf(sql: Sql, table: number): Promise<string[]> {
  const columns = await sql<Column[]>`
    select quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
      pg_get_expr(d.adbin, d.adrelid) as expression, a.attidentity as identity, a.attgenerated as generated
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = ${table} and a.attnum > 0 and not a.attisdropped
    order by a.attnum`
  const width = Math.max(...columns.map(({ name }) => name.length))
  return columns.map(
    column => `${column.name.padEnd(width)} ${column.type}${filledBy(column)}${column.required ? ' not null' : ''}`,
  )
}

function filledBy({ expression, identity, generated }: Column): string {
  if (identity) return ` generated ${identity === 'a' ? 'always' : 'by default'} as identity`
  if (generated) return ` generated always as (${expression})${generated === 's' ? ' stored' : ''}`
  return expression === null ? '' : ` default ${expression}`
}

const KINDS = ['p', 'u', 'x', 'c', 'f']

async function constraintsOf(sql: Sql, table: number): Promise<string[]> {
  const constraints = await sql<{ name: string; definition: string }[]>`
    select quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where conrelid = ${table} and contype::text = any(${KINDS}::text[])
    order by array_position(${KINDS}::text[], contype::text), conname`
  return constraints.map(({ name, definition }) => `constraint ${name} ${definition}`)
}

/** Where a column is stored in another way than its type would be. */
async function storageOf(sql: Sql, table: number, name: string): Promise<string[]> {
  const columns = await sql<{ column: string; storage: string }[]>`
    select quote_ident(attname) as column,
      case attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end as storage
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where attrelid = ${table} and attnum > 0 and not attisdropped and attstorage <> typstorage
    order by attnum`
  return columns.map(({ column, storage }) => `alter table ${name} alter column ${column} set storage ${storage};`)
}

/** Those that no constraint has made. */
async function indexesOf(sql: Sql, table: number): Promise<string[]> {
  const indexes = await sql<{ definition: string }[]>`
    select pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = ${table} and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
    order by c.relname`
  return indexes.map(({ definition }) => `${definition.replace(/ ON (ONLY )?public\./, ' ON ')};`)
}

async function triggersOf(sql: Sql, table: number): Promise<string[]> {
  const triggers = await sql<{ definition: string }[]>`
    select pg_get_triggerdef(oid) as definition from pg_trigger
    where tgrelid = ${table} and not tgisinternal
    order by tgname`
  return triggers.map(({ definition }) => `${definition.replace(' ON public.', ' ON ')};`)
}

async function dumpFunctions(sql: Sql): Promise<string[]> {
  const functions = await sql<{ definition: string }[]>`
    select pg_get_functiondef(p.oid) as definition
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')
    order by p.proname, pg_get_function_identity_arguments(p.oid)`
  return functions.map(({ definition }) => `${definition.replace(' FUNCTION public.', ' FUNCTION ').trimEnd()};`)
}
