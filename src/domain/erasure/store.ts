import { coordinatorTables, referenceTables } from '../../db/sharding/placement.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { REMOVED } from '../messages/message.ts'
import { searchedIn, type TableRule, tableRules } from './columns.ts'
import { jsonNumberOf, MASK, patternOf, roughPatternOf } from './number.ts'

/**
 * The statements of an erasure are made of the list of columns. They change tables of all slices, because a number can be
 * in a text of any of them. Each finds rows of all companies, and changes the rows of one company.
 */
export type Target = {
  /** The table, or the table of a month of messages. */
  name: string
  rule: TableRule
  /** The columns of the primary key with their types. The company is left out. */
  key: { column: string; type: string }[]
  isOfCompany: boolean
}

type KeyColumn = { table: string; column: string; type: string }

/** The tables with columns that are searched. Months of messages are searched one by one, also if they are detached. */
export async function readTargets(sql: Sql): Promise<Target[]> {
  const keys = await sql<KeyColumn[]>`
    select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
    from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
    cross join unnest(i.indkey) with ordinality k (attnum, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
    where c.relnamespace = 'public'::regnamespace and not c.relispartition
    order by c.relname, k.place`
  const months = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^messages_[0-9]{4}_[0-9]{2}$' order by 1`
  return Object.entries(tableRules).flatMap(([table, rule]) => {
    if (searchedIn(rule).length === 0 && !rule.settings && !rule.expiring) return []
    const own = keys.filter(key => key.table === table)
    const isOfCompany = !(table in coordinatorTables || table in referenceTables)
    const key = own.filter(({ column }) => !(isOfCompany && column === 'company_id'))
    const names = table === 'messages' ? months.map(({ name }) => name) : [table]
    return names.map(name => ({ name, rule, key, isOfCompany }))
  })
}

export const isSearched = ({ rule }: Target) => searchedIn(rule).length > 0

export type Place = { company: string | null; key: string[] }

const asText = (column: string) => `${column}::text`

/** The forms of a number as a whole value: with a plus, and as the subject of a limit. */
const isNumber = (column: string, digits: string) => `${column} in ('${digits}', '+${digits}', 'number:${digits}')`

const ownPattern = (digits: string) => `$own$${patternOf(digits, true)}$own$`

/** The condition for rows that name the number in one of these columns. The pattern is $1. */
function names({ rule }: Target, digits: string, columns: string[]): string {
  const each = columns.map(column => {
    if (rule.equal?.includes(column)) return isNumber(column, digits)
    const exact = `${asText(column)} ~ ${rule.ownJson?.includes(column) ? ownPattern(digits) : '$1'}`
    return `case when ${asText(column)} ~ $own$${roughPatternOf(digits)}$own$ then ${exact} else false end`
  })
  return `($1::text is not null and (${each.join(' or ')}))`
}

const finished = ({ rule }: Target) => (rule.finished ? `(${rule.finished})` : 'true')

/** Counts rows that name the number, all or one company after another. */
async function countWhere(sql: Sql, target: Target, naming: string, state: string, digits: string): Promise<number> {
  const { name, rule } = target
  const values = [patternOf(digits)]
  if (!rule.isFinishedByOthers) {
    const [row] = await sql.unsafe<Counted[]>(
      `select count(*) as count from ${name} where ${naming} and ${state}`,
      values,
    )
    return row!.count
  }
  let sum = 0
  for (const company of await companiesWhere(sql, target, naming, digits)) {
    const own = `company_id = ${company} and ${naming} and ${state}`
    const [row] = await sql.unsafe<Counted[]>(`select count(*) as count from ${name} where ${own}`, values)
    sum += row!.count
  }
  return sum
}

type Counted = { count: number }

async function companiesWhere(sql: Sql, { name }: Target, naming: string, digits: string): Promise<number[]> {
  const rows = await sql.unsafe<{ companyId: number }[]>(`select distinct company_id from ${name} where ${naming}`, [
    patternOf(digits),
  ])
  return rows.map(({ companyId }) => companyId)
}

/** The rows that the erasure changes or deletes. */
export const countNaming = (sql: Sql, target: Target, digits: string): Promise<number> =>
  isSearched(target)
    ? countWhere(sql, target, names(target, digits, searchedIn(target.rule)), finished(target), digits)
    : Promise.resolve(0)

/**
 * The rows that name the number and may not change: settings, and rows that are still in use. Messages to the number
 * itself are not counted. Their cascades are counted only after the messages were stopped.
 */
export async function countObjecting(sql: Sql, target: Target, digits: string, isStopped: boolean) {
  const { settings = [], expiring = {}, number, isFinishedByOthers } = target.rule
  const found: { column: string; rows: number }[] = []
  for (const column of [...settings, ...Object.keys(expiring)]) {
    found.push({ column, rows: await countWhere(sql, target, names(target, digits, [column]), 'true', digits) })
  }
  if (target.rule.finished) {
    const ofOthers = number
      ? `${number} <> '${digits}'`
      : isFinishedByOthers && !isStopped
        ? isOfOthers(digits)
        : 'true'
    const state = `${ofOthers} and not ${finished(target)}`
    const naming = names(target, digits, searchedIn(target.rule))
    found.push({ column: 'in use', rows: await countWhere(sql, target, naming, state, digits) })
  }
  return found.filter(({ rows }) => rows > 0)
}

export type DispatchInUse = { companyId: number; dispatchId: number; status: string }

/** Some of the dispatches that `countObjecting` counts, so that a person finds them. */
export const selectDispatchesInUse = (sql: Sql, target: Target, digits: string, most: number) =>
  sql.unsafe<DispatchInUse[]>(
    `select company_id, dispatch_id, status from dispatches
     where ${names(target, digits, searchedIn(target.rule))} and not ${finished(target)} order by 1, 2 limit ${most}`,
    [patternOf(digits)],
  )

const isOfOthers = (digits: string) => `not exists (
  select from messages m
  where m.company_id = cascades.company_id and m.cascade_uuid = cascades.cascade_uuid and m.destination = '${digits}')`

/** All rows that name the number, besides the column of their own number. */
export async function selectNaming(sql: Sql, target: Target, digits: string): Promise<Place[]> {
  const columns = maskedIn(target.rule)
  if (columns.length === 0) return []
  const naming = names(target, digits, columns)
  const pattern = patternOf(digits)
  if (!target.rule.isFinishedByOthers) return selectPlaces(sql, target, `${naming} and ${finished(target)}`, pattern)
  const places: Place[] = []
  for (const company of await companiesWhere(sql, target, naming, digits)) {
    const own = `company_id = ${company} and ${naming} and ${finished(target)}`
    places.push(...(await selectPlaces(sql, target, own, pattern)))
  }
  return places
}

const maskedIn = (rule: TableRule) => searchedIn(rule).filter(column => column !== rule.number)

/** All rows of the number that may change. */
export const selectOwn = (sql: Sql, target: Target, digits: string): Promise<Place[]> =>
  selectPlaces(sql, target, `${target.rule.number} = $1 and ${finished(target)}`, digits)

async function selectPlaces(sql: Sql, target: Target, condition: string, value: string) {
  const company = target.isOfCompany ? 'company_id::text' : 'null'
  const key = target.key.map(({ column }) => asText(column)).join(', ')
  return sql.unsafe<Place[]>(
    `select ${company} as company, array[${key}]::text[] as key from ${target.name} where ${condition}`,
    [value],
  )
}

const removed = (column: string) => `case when ${column} is null then null else '${REMOVED}' end`

/** The values of the rows of a number, besides the number itself. */
function valuesOf({ rule: { texts = [], json = [] }, name }: Target): [column: string, value: string][] {
  if (name.startsWith('messages_')) {
    return [
      ['text', removed('text')],
      ...['external_id', 'callback_url', 'operator_error', 'content', 'options', 'sealed'].map(
        (column): [string, string] => [column, 'null'],
      ),
    ]
  }
  const others = [...texts.filter(column => column === 'text'), ...json]
  return others.map(column => [column, column === 'text' ? removed(column) : 'null'])
}

/** Removes the values of rows of a number. The number itself stays until all its rows are done. */
export function removeValues(sql: Sql, target: Target, places: Place[]) {
  const values = valuesOf(target).map(([column, value]) => `${column} = ${value}`)
  const { condition, parameters } = at(target, places, 1)
  return sql.unsafe(`update ${target.name} set ${values.join(', ')} where ${condition}`, parameters)
}

/** Masks the number in these rows, or deletes the rows. */
export function eraseRows(sql: Sql, target: Target, places: Place[], digits: string) {
  if (target.rule.isDeleted) {
    const { condition, parameters } = at(target, places, 1)
    return sql.unsafe(`delete from ${target.name} where ${condition}`, parameters)
  }
  const { equal = [], texts = [], json = [], number } = target.rule
  const values = [
    ...equal.filter(column => column !== number).map(column => `${column} = ${maskedId(target, column, digits)}`),
    ...texts.map(column => `${column} = regexp_replace(${column}, $1, '${MASK}', 'g')`),
    ...json.map(column => `${column} = ${maskedJson(target, column, digits)}`),
  ]
  const { condition, parameters } = at(target, places, 4)
  return sql.unsafe(
    `with given as (select $1::text, $2::text, $3::text) update ${target.name} set ${values.join(', ')} where ${condition}`,
    [patternOf(digits), jsonNumberOf(digits), digits, ...parameters],
  )
}

/** An id of an inbound message is unique where it is known. */
const maskedId = ({ name }: Target, column: string, digits: string) =>
  `case when ${isNumber(column, digits)} then ${name === 'inbound_messages' ? 'null' : `'${MASK}'`} else ${column} end`

const typesOfJson: Record<string, string> = { answer: 'text', messages: 'text', events: 'json' }
const typeOfJson = (column: string) => typesOfJson[column] ?? 'jsonb'

function maskedJson({ rule }: Target, column: string, digits: string): string {
  const pattern = rule.ownJson?.includes(column) ? ownPattern(digits) : '$1'
  const value = `(${rule.before?.[column] ?? column})::text`
  return `regexp_replace(regexp_replace(${value}, $2, '\\1null', 'g'), ${pattern}, '${MASK}', 'g')::${typeOfJson(column)}`
}

/** The condition for rows of one company. */
function at({ key, isOfCompany }: Target, places: Place[], from: number) {
  const parameters: string[] = []
  const next = (value: string, type: string) => `$${from - 1 + parameters.push(value)}::text::${type}`
  const company = isOfCompany ? `company_id = ${next(places[0]!.company!, 'bigint')} and ` : ''
  const rows = places.map(place => `(${key.map(({ type }, i) => next(place.key[i]!, type)).join(', ')})`)
  const columns = key.map(({ column }) => column).join(', ')
  return { condition: `${company}(${columns}) in (${rows.join(', ')})`, parameters }
}

/** The companies that have rows of the number, in one of these tables. */
export async function selectCompanies(sql: Sql, targets: Target[], digits: string): Promise<number[]> {
  const found = new Set<number>()
  for (const { name, rule } of targets) {
    const rows = await sql.unsafe<{ companyId: number }[]>(
      `select distinct company_id from ${name} where ${rule.number} = $1`,
      [digits],
    )
    for (const { companyId } of rows) found.add(companyId)
  }
  return [...found]
}

/** Messages that are not final keep their number: a worker may read it. */
export const renameNumber = (sql: Transaction, target: Target, companyId: number, digits: string, pseudonym: string) =>
  sql.unsafe(
    `update ${target.name} set ${target.rule.number} = $1
    where company_id = $2 and ${target.rule.number} = $3 and ${finished(target)}`,
    [pseudonym, companyId, digits],
  )

/** Samples of the values of a table are in its statistics, until they are made again. */
export const renewStatistics = (sql: Sql, table: string) => sql.unsafe(`analyze ${table}`)

/** Allows changes of the audit log in this transaction, for the owner of the log. */
export const allowAuditChange = (sql: Transaction) => sql`select set_config('tidings.erasing', 'on', true)`

export type OwnMessage = {
  companyId: number
  uuid: string
  cascadeUuid: string | null
  status: string
  hasStep: boolean
}

/** Messages to the number that are not final, or whose cascade waits for its time. */
export const selectUnfinished = (sql: Sql, digits: string, limit: number) => sql<OwnMessage[]>`
  select m.company_id, m.message_uuid as uuid, m.cascade_uuid, m.status::text as status, t.kind is not null as has_step
  from messages m left join message_timers t
    on t.company_id = m.company_id and t.message_uuid = m.message_uuid and t.kind = 'step'
  where m.destination = ${digits} and (m.status in ('CREATED', 'SENT') or t.kind is not null)
  order by m.status limit ${limit}`
