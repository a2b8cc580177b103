import { readMigrations } from './migrate.ts'
import type { Sql } from './sql.ts'

/**
 * The schema as text, read from the catalogue, in the order in which the migrations create it. The opening comment of
 * a migration is the heading of its types, tables and functions. Comments of the database stand before their object.
 *
 * Rows are left out, and so are partitions, which depend on the date. The text is the same on every version of
 * PostgreSQL that we support: `not null` stands with its column, and nothing is read that only newer versions have.
 */
export async function dumpSchema(sql: Sql): Promise<string> {
  const objects = [await dumpEnums(sql), await dumpTables(sql), await dumpFunctions(sql)].flat()
  const inOrder = objects.toSorted((one, other) => one.oid - other.oid)
  return `${HEADING}\n${withHeadings(inOrder, await readThemes()).join('\n\n')}\n`
}

const HEADING = `-- The tables that the migrations make in an empty database. Printed by \`npm run db:dump\`: change a migration, not this
-- file.
`

/** `oid` rises in the order of creation. */
type Dumped = { oid: number; name: string; text: string }

type Theme = { heading: string; creates: Set<string> }

async function readThemes(): Promise<Theme[]> {
  return (await readMigrations()).map(({ text }) => ({
    heading: text.match(/^(?:--.*\n)+/)?.[0].trimEnd() ?? '--',
    creates: new Set(
      [...text.matchAll(/^create (?:unlogged )?(?:table|type|function) (\w+)/gm)].map(match => match[1]!),
    ),
  }))
}

const RULE = `-- ${'='.repeat(117)}`
const OWN = '-- The version of the schema. The program creates these tables before the first migration.'

function withHeadings(objects: Dumped[], themes: Theme[]): string[] {
  let current = ''
  return objects.flatMap(({ name, text }) => {
    const heading = themes.find(theme => theme.creates.has(name))?.heading ?? OWN
    if (heading === current) return [text]
    current = heading
    return [[RULE, heading, RULE].join('\n'), text]
  })
}

async function dumpEnums(sql: Sql): Promise<Dumped[]> {
  const enums = await sql<{ oid: number; name: string; comment: string | null; labels: string[] }[]>`
    select t.oid::int, t.typname as name, obj_description(t.oid, 'pg_type') as comment,
      array_agg(quote_literal(e.enumlabel) order by e.enumsortorder) as labels
    from pg_type t join pg_enum e on e.enumtypid = t.oid
    where t.typnamespace = 'public'::regnamespace
    group by t.oid`
  return enums.map(({ oid, name, comment, labels }) => ({
    oid,
    name,
    text: [...commentLines(comment), `create type ${name} as enum (${labels.join(', ')});`].join('\n'),
  }))
}

type Table = { oid: number; name: string; partitioning: string | null }

async function dumpTables(sql: Sql): Promise<Dumped[]> {
  const tables = await sql<Table[]>`
    select oid::int, quote_ident(relname) as name, pg_get_partkeydef(oid) as partitioning
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
  const dumps: Dumped[] = []
  for (const table of tables) dumps.push({ ...table, text: await dumpTable(sql, table) })
  return dumps
}

/** One table with its indexes and triggers, as statements that make it. */
export async function dumpTable(sql: Sql, { oid, name, partitioning }: Table): Promise<string> {
  const { kind, options, comment } = await propertiesOf(sql, oid)
  const constraints = (await constraintsOf(sql, oid)).map(line => [line])
  return [
    ...commentLines(comment),
    `create ${kind} ${name} (`,
    listed([...(await columnsOf(sql, oid)), ...constraints]),
    `)${partitioning ? ` partition by ${partitioning}` : ''}${options ? ` with (${options})` : ''};`,
    ...(await storageOf(sql, oid, name)),
    ...(await indexesOf(sql, oid)),
    ...(await triggersOf(sql, oid)),
  ].join('\n')
}

/** A comma ends each entry but the last. An entry is one line, with the lines of its comment before it. */
const listed = (entries: string[][]): string =>
  entries.map(lines => lines.map(line => `  ${line}`).join('\n')).join(',\n')

type Properties = { kind: string; options: string | null; comment: string | null }

async function propertiesOf(sql: Sql, table: number): Promise<Properties> {
  const [properties] = await sql<Properties[]>`
    select case relpersistence when 'u' then 'unlogged table' else 'table' end as kind,
      array_to_string(reloptions, ', ') as options, obj_description(oid, 'pg_class') as comment
    from pg_class where oid = ${table}`
  if (!properties) throw new Error(`There is no table with the oid ${table}.`)
  return properties
}

const WIDTH = 120

function commentLines(comment: string | null, indent = 0): string[] {
  if (!comment) return []
  const lines: string[] = []
  for (const word of comment.split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= WIDTH - indent) lines[lines.length - 1] = longer
    else lines.push(`-- ${word}`)
  }
  return lines
}

type Column = {
  name: string
  type: string
  required: boolean
  expression: string | null
  identity: string
  generated: string
  comment: string | null
}

async function columnsOf(sql: Sql, table: number): Promise<string[][]> {
  const columns = await sql<Column[]>`
    select quote_ident(a.attname) as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
      pg_get_expr(d.adbin, d.adrelid) as expression, a.attidentity as identity, a.attgenerated as generated,
      col_description(a.attrelid, a.attnum) as comment
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = ${table} and a.attnum > 0 and not a.attisdropped
    order by a.attnum`
  const width = Math.max(...columns.map(({ name }) => name.length))
  return columns.map(column => [
    ...commentLines(column.comment, 2),
    `${column.name.padEnd(width)} ${column.type}${filledBy(column)}${column.required ? ' not null' : ''}`,
  ])
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

/** Columns that are stored in another way than their type usually is. */
async function storageOf(sql: Sql, table: number, name: string): Promise<string[]> {
  const columns = await sql<{ column: string; storage: string }[]>`
    select quote_ident(attname) as column,
      case attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end as storage
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where attrelid = ${table} and attnum > 0 and not attisdropped and attstorage <> typstorage
    order by attnum`
  return columns.map(({ column, storage }) => `alter table ${name} alter column ${column} set storage ${storage};`)
}

/** The indexes of constraints are left out. */
async function indexesOf(sql: Sql, table: number): Promise<string[]> {
  const indexes = await sql<{ definition: string; comment: string | null }[]>`
    select pg_get_indexdef(i.indexrelid) as definition, obj_description(i.indexrelid, 'pg_class') as comment
    from pg_index i
    where i.indrelid = ${table} and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
    order by i.indexrelid`
  return indexes.flatMap(({ definition, comment }) => [
    ...commentLines(comment),
    `${definition.replace(/ ON (ONLY )?public\./, ' ON ')};`,
  ])
}

async function triggersOf(sql: Sql, table: number): Promise<string[]> {
  const triggers = await sql<{ definition: string }[]>`
    select pg_get_triggerdef(oid) as definition from pg_trigger
    where tgrelid = ${table} and not tgisinternal
    order by tgname`
  return triggers.map(({ definition }) => `${definition.replace(' ON public.', ' ON ')};`)
}

async function dumpFunctions(sql: Sql): Promise<Dumped[]> {
  const functions = await sql<{ oid: number; name: string; definition: string; comment: string | null }[]>`
    select p.oid::int, p.proname as name, pg_get_functiondef(p.oid) as definition,
      obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')`
  return functions.map(({ oid, name, definition, comment }) => ({
    oid,
    name,
    text: [...commentLines(comment), `${definition.replace(' FUNCTION public.', ' FUNCTION ').trimEnd()};`].join('\n'),
  }))
}
