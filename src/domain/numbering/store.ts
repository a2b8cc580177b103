import type { Sql } from '../../db/sql.ts'
import type { Carrier, Operator } from './brand.ts'

export async function findVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from numbering_version`
  return row!.version
}

/** Locks the version: no other transaction can raise it before this one ends. */
export async function lockVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from numbering_version for update`
  return row!.version
}

/** The first statement of every change: other changes of the plan wait here for the commit. */
export async function raiseVersion(sql: Sql): Promise<void> {
  await sql`update numbering_version set version = version + 1`
}

export const findVirtualOperators = (sql: Sql) => sql<Carrier[]>`
  select inn, name, brand_id from virtual_operators`

export const saveVirtualOperator = (sql: Sql, carrier: Carrier) => sql`
  insert into virtual_operators (inn, name, brand_id) values (${carrier.inn}, ${carrier.name}, ${carrier.brandId})
  on conflict (inn) do update set name = excluded.name, brand_id = excluded.brand_id`

export const findOperators = (sql: Sql) => sql<(Operator & { operatorId: number })[]>`
  select operator_id, inn, name from operators`

type RangeRow = { first: number; last: number; operatorId: number; region: string }

export const findRanges = (sql: Sql) =>
  sql<RangeRow[]>`
  select first, last, operator_id, region from numbering_ranges`.cursor(5_000)

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

/**
 * The file's codes are replaced as a whole: what it no longer lists is no longer assigned. With `replace`, codes that it
 * does not list lose their ranges too.
 */
export async function replaceRanges(sql: Sql, replace: boolean): Promise<void> {
  await sql`
    insert into operators (inn, name) select distinct inn, operator from register_lines on conflict do nothing`
  await sql`
    delete from numbering_ranges
    where ${replace} or first / 10000000 in (select first / 10000000 from register_lines)`
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
 * statement take half the time of ON CONFLICT; no other import writes between them, because every import locks the row of the version.
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

// Where the plan came from ----------------------------------------------------------------------------------------

export type SourceKind = 'register' | 'ported'

export const saveSource = (sql: Sql, kind: SourceKind, name: string, entries: number) => sql`
  insert into numbering_sources (kind, name, entries, imported_at) values (${kind}, ${name}, ${entries}, now())
  on conflict (kind) do update
  set name = excluded.name, entries = excluded.entries, imported_at = excluded.imported_at`

export const findSources = (sql: Sql) => sql<{ kind: SourceKind; name: string; entries: number; importedAt: Date }[]>`
  select kind, name, entries, imported_at from numbering_sources`

/** How many numbers and ranges each operator has in the imported part of the plan. */
export const findOperatorNumbers = (sql: Sql) => sql<(Operator & { numbers: number; ranges: number })[]>`
  select o.inn, o.name, sum(r.last - r.first + 1)::bigint as numbers, count(*) as ranges
  from numbering_ranges r join operators o using (operator_id) group by o.operator_id`

/** The codes of which ranges were imported. */
export const findImportedCodes = (sql: Sql) => sql<{ code: number }[]>`
  select distinct (first / 10000000 - 7000)::integer as code from numbering_ranges order by code`

export type NamedRange = { first: number; last: number; inn: string; name: string; region: string }

/** The range that may contain a number: the last range of its code that begins at the number or before it. */
export const findRangeAt = (sql: Sql, number: number) => sql<NamedRange[]>`
  select r.first, r.last, o.inn, o.name, r.region
  from (
    select * from numbering_ranges
    where first <= ${number} and first >= ${number - (number % 10_000_000)} order by first desc limit 1
  ) r join operators o using (operator_id)`

/** In the order of their numbers, from the first behind `after` on. */
export const findPortedAfter = (sql: Sql, after: number, limit: number) => sql<{ number: number; brandId: number }[]>`
  select number, brand_id from ported_numbers where number > ${after} order by number limit ${limit}`

export const findPortedNumber = (sql: Sql, number: number) => sql<{ brandId: number }[]>`
  select brand_id from ported_numbers where number = ${number}`

// Files that wait to be applied -----------------------------------------------------------------------------------

export type UploadRow = {
  uploadId: number
  kind: SourceKind
  name: string
  replaces: boolean
  sizeBytes: number
  version: number | null
  difference: unknown
  createdAt: Date
}

const uploadColumns = (sql: Sql) => sql`
  upload_id, kind, name, replaces, size_bytes, version, difference, created_at`

/** Taken before uploads are counted, so that two at once cannot both be the last one allowed. */
export const lockUploads = (sql: Sql) => sql`lock table numbering_uploads in share row exclusive mode`

export const deleteUploadsBefore = (sql: Sql, before: Date) =>
  sql`delete from numbering_uploads where created_at < ${before}`

export async function countUploads(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from numbering_uploads`
  return row!.count
}

export async function insertUpload(
  sql: Sql,
  upload: Pick<UploadRow, 'kind' | 'name' | 'replaces' | 'sizeBytes' | 'createdAt'>,
): Promise<number> {
  const [row] = await sql<{ uploadId: number }[]>`
    insert into numbering_uploads (kind, name, replaces, size_bytes, created_at)
    values (${upload.kind}, ${upload.name}, ${upload.replaces}, ${upload.sizeBytes}, ${upload.createdAt})
    returning upload_id`
  return row!.uploadId
}

export const findUpload = (sql: Sql, uploadId: number, since: Date) => sql<UploadRow[]>`
  select ${uploadColumns(sql)} from numbering_uploads where upload_id = ${uploadId} and created_at >= ${since}`

export const selectUploads = (sql: Sql, since: Date) => sql<Omit<UploadRow, 'difference'>[]>`
  select upload_id, kind, name, replaces, size_bytes, version, created_at
  from numbering_uploads where created_at >= ${since} order by upload_id`

/** Locks the upload, so that one request at a time works with the file. */
export const lockUpload = (sql: Sql, uploadId: number, since: Date) => sql<UploadRow[]>`
  select ${uploadColumns(sql)} from numbering_uploads
  where upload_id = ${uploadId} and created_at >= ${since} for update`

export const savePiece = (sql: Sql, uploadId: number, piece: number, content: Buffer) => sql`
  insert into numbering_upload_pieces (upload_id, piece, content) values (${uploadId}, ${piece}, ${content})
  on conflict (upload_id, piece) do update set content = excluded.content`

export async function sizeOfPieces(sql: Sql, uploadId: number): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select coalesce(sum(length(content)), 0)::bigint as size from numbering_upload_pieces where upload_id = ${uploadId}`
  return row!.size
}

export const findPiece = (sql: Sql, uploadId: number, piece: number) => sql<{ content: Buffer }[]>`
  select content from numbering_upload_pieces where upload_id = ${uploadId} and piece = ${piece}`

export const saveDifference = (sql: Sql, uploadId: number, version: number, difference: object) => sql`
  update numbering_uploads set version = ${version}, difference = ${JSON.stringify(difference)}::text::jsonb
  where upload_id = ${uploadId}`

export const deleteUpload = (sql: Sql, uploadId: number) =>
  sql`delete from numbering_uploads where upload_id = ${uploadId}`

/** The codes of the file. */
export const findListedCodes = (sql: Sql) => sql<{ code: number }[]>`
  select distinct (first / 10000000 - 7000)::integer as code from register_lines order by code`

export const prepareRegisterLines = (sql: Sql) => sql`create index on register_lines (first)`

export const findListedRanges = (sql: Sql, first: number, last: number) => sql<NamedRange[]>`
  select first, last, inn, operator as name, region from register_lines
  where first between ${first} and ${last} order by first`

export const findPresentRanges = (sql: Sql, first: number, last: number) => sql<NamedRange[]>`
  select r.first, r.last, o.inn, o.name, r.region from numbering_ranges r join operators o using (operator_id)
  where r.first between ${first} and ${last} order by r.first`

type PortedChange = { kind: 'added' | 'moved' | 'removed'; numbers: number; samples: PortedSample[] | null }
export type PortedSample = { number: number; before: number | null; after: number | null }

/** What the listed numbers would change; with `replaces`, numbers that are not listed are no longer ported. */
export const comparePorted = (sql: Sql, replaces: boolean, samples: number) => sql<PortedChange[]>`
  with listed as materialized (
    select distinct on (number) number, brand_id from ported_lines order by number, ctid desc),
  changes as (
    select case when p.number is null then 'added' when l.number is null then 'removed' else 'moved' end as kind,
      coalesce(l.number, p.number) as number, p.brand_id as before, l.brand_id as after
    from listed l full join ported_numbers p using (number)
    where l.brand_id is distinct from p.brand_id and (${replaces} or l.number is not null)),
  numbered as (select *, row_number() over (partition by kind order by number) as place from changes)
  select kind, count(*) as numbers,
    json_agg(json_build_object('number', number, 'before', before, 'after', after) order by number)
      filter (where place <= ${samples}) as samples
  from numbered group by kind`

export const deletePorted = (sql: Sql, number: number) => sql`delete from ported_numbers where number = ${number}`

export const selectPortedUpload = (sql: Sql) => sql`select from numbering_uploads where kind = 'ported' limit 1`
