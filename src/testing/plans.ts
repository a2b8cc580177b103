import { expect } from 'vitest'
import { connect, type Pool } from '../db/sql.ts'
import type { TestDatabase } from './database.ts'
import { skipOnCluster } from './one-server.ts'

/**
 * Reads query plans. It records the statements of the driver while the code runs, and explains each with its
 * parameters.
 */

export type Statement = { text: string; parameters: unknown[]; types: number[] }
export type Read = { table: string; index: string | undefined; rows: number }
/** A plan for the given parameters, and a generic plan. */
export const planModes = ['force_custom_plan', 'force_generic_plan'] as const
type PlanMode = (typeof planModes)[number]

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Loops': number
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

/** The tables that the first matching statement reads, each with its index. A table without an index is read whole. */
export async function readsOf(
  db: TestDatabase,
  mode: PlanMode,
  work: (sql: Pool) => Promise<unknown>,
  about: RegExp,
): Promise<Read[]> {
  const statement = (await statementsOf(db.url, work)).find(({ text }) => about.test(text))
  expect(statement, `no statement about ${about}`).toBeDefined()
  skipOnCluster('the workers of a cluster make the plans')
  return readsIn(await planOf(db.sql, statement!, mode))
}

/** The statements that the work sends, in order. */
export async function statementsOf(url: string, work: (sql: Pool) => Promise<unknown>): Promise<Statement[]> {
  const pool = connect(url, { max: 1 })
  await pool`select 1`
  const statements: Statement[] = []
  const debug = (_: number, text: string, parameters: unknown[], types: number[]) =>
    statements.push({ text, parameters, types })
  Object.assign(pool.options, { debug })
  await work(pool)
  await pool.end()
  return statements
}

/** The plan as PostgreSQL explains it, outside of a transaction. The statement has no effect. */
export async function explain(url: string, { text, parameters, types }: Statement): Promise<unknown> {
  const values = parameters.map(value => (value === null ? 'null' : literal(String(value))))
  const sql = connect(url, { max: 1 })
  try {
    await sql.unsafe(`prepare explained${listOf(await typeNames(sql, types))} as ${text}`)
    const [row] = await sql.unsafe(`explain (format json) execute explained${listOf(values)}`)
    return row!['QUERY PLAN']
  } finally {
    await sql.end()
  }
}

async function planOf(sql: Pool, { text, parameters, types }: Statement, mode: PlanMode): Promise<Node[]> {
  const values = parameters.map(value => (value === null ? 'null' : literal(String(value))))
  return sql.begin(async tx => {
    await tx`select set_config('plan_cache_mode', ${mode}, true)`
    await tx.unsafe(`prepare hot${listOf(await typeNames(sql, types))} as ${text}`)
    const [row] = await tx.unsafe(`explain (analyze, format json) execute hot${listOf(values)}`)
    await tx.unsafe('deallocate hot')
    return nodesOf(row!['QUERY PLAN'][0].Plan)
  })
}

const listOf = (words: string[]) => (words.length > 0 ? ` (${words.join(', ')})` : '')

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const typeNames = (sql: Pool, types: number[]): Promise<string[]> =>
  Promise.all(
    types.map(async type => (type ? (await sql`select ${type}::oid::regtype::text as name`)[0]!.name : 'unknown')),
  )

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const readsIn = (nodes: Node[]): Read[] =>
  nodes
    .filter(node => node['Relation Name'] && node['Actual Loops'] > 0)
    .map(node => ({ table: node['Relation Name']!, index: indexOf(node), rows: rowsOf(node) }))

/** A bitmap scan names its index one step below. */
const indexOf = (node: Node): string | undefined => node['Index Name'] ?? node.Plans?.map(indexOf).find(Boolean)

const rowsOf = (node: Node) =>
  Math.round((node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])

/** The table with the messages of the month that many months ago. */
export function monthBack(back: number): string {
  const now = new Date()
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1))
  return `messages_${month.toISOString().slice(0, 7).replace('-', '_')}`
}
