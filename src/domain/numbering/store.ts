import type { Sql } from '../../db/sql.ts'
import type { Carrier, Operator } from './brand.ts'

export async function findVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from numbering_version`
  return row!.version
}

/** Comes first in every change: whoever else wants to change the plan waits here for our commit. */
export async function raiseVersion(sql: Sql): Promise<void> {
  await sql`update numbering_version set version = version + 1`
}

export const findVirtualOperators = (sql: Sql) => sql<Carrier[]>`
  select inn, name, brand_id as "brandId" from virtual_operators`

export const saveVirtualOperator = (sql: Sql, carrier: Carrier) => sql`
  insert into virtual_operators (inn, name, brand_id) values (${carrier.inn}, ${carrier.name}, ${carrier.brandId})
  on conflict (inn) do update set name = excluded.name, brand_id = excluded.brand_id`

export const findOperators = (sql: Sql) => sql<(Operator & { operatorId: number })[]>`
  select operator_id as "operatorId", inn, name from operators`

type RangeRow = { first: number; last: number; operatorId: number; region: string }

export const findRanges = (sql: Sql) =>
  sql<RangeRow[]>`
  select first, last, operator_id as "operatorId", region from numbering_ranges`.cursor(5_000)

type PortedRow = { code: number; packed: Buffer }

/**
 * One row a code, its numbers as a string of big-endian 32-bit integers (numbering/ported.ts says how they are
 * packed): a tenth of the time that a row a number takes.
 */
export const findPorted = (sql: Sql) =>
  sql<PortedRow[]>`
  select (number / 10000000 - 7000)::integer as code,
    string_agg(int4send((number % 10000000 * 16 + brand_id)::integer), '') as packed
  from ported_numbers group by 1`.cursor(1)

export const createRegisterLines = (sql: Sql) => sql`
  create temporary table register_lines (
    line integer not null, first bigint not null, last bigint not null, inn text not null, operator text not null,
    region text not null
  ) on commit drop`

export const registerLines = {
  table: 'register_lines',
  columns: ['line', 'first', 'last', 'inn', 'operator', 'region'],
}

/** The first line whose range overlaps that of another line, and that other line. */
export async function findOverlap(sql: Sql): Promise<{ line: number; other: number } | undefined> {
  const [row] = await sql<{ line: number; other: number }[]>`
    select greatest(line, previous_line) as line, least(line, previous_line) as other
    from (
      select line, first, lag(line) over in_order as previous_line, lag(last) over in_order as previous_last
      from register_lines window in_order as (order by first, line)
    ) neighbours
    where first <= previous_last
    order by 1 limit 1`
  return row
}

/** The file's codes are replaced as a whole: what it no longer lists is no longer assigned. */
export async function replaceRanges(sql: Sql): Promise<void> {
  await sql`
    insert into operators (inn, name) select distinct inn, operator from register_lines on conflict do nothing`
  await sql`delete from numbering_ranges where first / 10000000 in (select first / 10000000 from register_lines)`
  await sql`
    insert into numbering_ranges (first, last, operator_id, region)
    select l.first, l.last, o.operator_id, l.region
    from register_lines l join operators o on o.inn = l.inn and o.name = l.operator`
}

export async function countCodes(sql: Sql): Promise<number> {
  const [row] = await sql<{ codes: number }[]>`select count(distinct first / 10000000) as codes from register_lines`
  return row!.codes
}

export const findRegions = (sql: Sql) => sql<{ region: string }[]>`
  select distinct region from register_lines order by region`

export const createPortedLines = (sql: Sql) => sql`
  create temporary table ported_lines (number bigint not null, brand_id smallint not null) on commit drop`

export const portedLines = { table: 'ported_lines', columns: ['number', 'brand_id'] }

/**
 * A number listed twice is where its last line says: lines keep their order in the table (ctid). Two steps in one
 * statement take half the time of ON CONFLICT; nobody writes between them, as every import holds the version's row.
 */
export const savePorted = (sql: Sql) => sql`
  with listed as materialized (
    select distinct on (number) number, brand_id from ported_lines order by number, ctid desc),
  moved as (
    update ported_numbers p set brand_id = l.brand_id
    from listed l where p.number = l.number and p.brand_id <> l.brand_id)
  insert into ported_numbers (number, brand_id)
  select number, brand_id from listed l
  where not exists (select from ported_numbers p where p.number = l.number)
  order by number`

/** Only what the file left out goes: most of a daily file is what it was the day before. */
export async function deletePortedNotListed(sql: Sql): Promise<void> {
  await sql`analyze ported_lines`
  await sql`
    delete from ported_numbers p where not exists (select from ported_lines l where l.number = p.number)`
}

export async function countPorted(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from ported_numbers`
  return row!.count
}
