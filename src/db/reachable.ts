import { setTimeout as pause } from 'node:timers/promises'
import { isNodeAway } from '../base/database-losses.ts'
import type { Fragment, Sql } from './sql.ts'

/**
 * Reads of all companies while a node of a Citus cluster is away. Citus refuses a statement that needs a missing node, so
 * the statement is limited to the companies of the other nodes. Other databases never report that a node is away.
 */

/** How long the companies of the other nodes are read without asking whether the node is back. */
const KEPT_MS = 5000

type Reachable = { companyIds: number[]; until: number }

const reachables = new WeakMap<Sql, Reachable>()

/**
 * Limits a table in a read of all companies to the reachable companies, for the end of a `where`. Empty while all are
 * reachable. Citus needs the limit of every table in the statement, but not of a table behind `left join`.
 */
export function reachable(sql: Sql, column = 'company_id'): Fragment {
  const companyIds = knownReachable(sql)
  return companyIds ? sql`and ${sql(column)} = any(${companyIds}::bigint[])` : sql``
}

/** The reachable companies among these. For a statement that names several companies: Citus sees one list for each table. */
export function reachableAmong(sql: Sql, companyIds: number[]): number[] {
  const known = knownReachable(sql)
  if (!known) return companyIds
  const present = new Set(known)
  return companyIds.filter(companyId => present.has(companyId))
}

/** Undefined while all companies are reachable. */
function knownReachable(sql: Sql): number[] | undefined {
  const known = reachables.get(sql)
  return known && known.until >= performance.now() ? known.companyIds : undefined
}

/** Reads rows of all companies with a statement that contains `reachable`, or has its companies from `reachableAmong`. */
export async function acrossCompanies<Rows>(sql: Sql, read: () => PromiseLike<Rows>): Promise<Rows> {
  try {
    return await read()
  } catch (error) {
    if (!isNodeAway(error)) throw error
    const companyIds = await askOnce(sql)
    if (!companyIds?.length) throw error
    reachables.set(sql, { companyIds, until: performance.now() + KEPT_MS })
    return await read()
  }
}

/** For work that is done company by company, and found again: the companies of a missing node are left out. */
export function ignoreNodeAway(error: unknown): undefined {
  if (!isNodeAway(error)) throw error
}

const asked = new WeakMap<Sql, Promise<number[] | undefined>>()

/** Reads that fail at the same time share the answer. Undefined if the coordinator cannot tell. */
function askOnce(sql: Sql): Promise<number[] | undefined> {
  const running = asked.get(sql)
  if (running) return running
  const asking = reachableCompanies(sql)
    .catch(() => undefined)
    .finally(() => asked.delete(sql))
  asked.set(sql, asking)
  return asking
}

type Group = { groupId: number; companyId: number }

async function reachableCompanies(sql: Sql): Promise<number[]> {
  const groups = await sql<Group[]>`
    ${placed(sql, sql`${ENOUGH_TO_MEET_ALL}::bigint`)}
    select p.groupid as group_id, min(company_id) as company_id
    from placed join pg_dist_placement p using (shardid)
    group by p.groupid`
  const present = await Promise.all(groups.map(group => isPresent(sql, group)))
  const groupIds = groups.filter((_, i) => present[i]).map(({ groupId }) => groupId)
  const companies = await sql<{ companyId: number }[]>`
    ${placed(sql, sql`(select last_value from companies_company_id_seq)`)}
    select company_id from placed join pg_dist_placement p using (shardid)
    where p.groupid = any(${groupIds}::int[])`
  return companies.map(({ companyId }) => companyId)
}

/** The shards of companies. Materialized, because a join would call the function for each pair of company and shard. */
const placed = (sql: Sql, last: Fragment) => sql`
  with placed as materialized (
    select company_id::bigint, get_shard_id_for_distribution_column('companies', company_id) as shardid
    from generate_series(1, ${last}) company_id)`

/** Among this many ids there is one of every shard, because ids are spread by a hash. */
const ENOUGH_TO_MEET_ALL = 10_000
/** A node that does not answer within this time counts as away. */
const ANSWER_MS = 2000

async function isPresent(sql: Sql, { companyId }: Group): Promise<boolean> {
  const asked = sql`select from companies where company_id = ${companyId}`.then(
    () => true,
    () => false,
  )
  return Promise.race([asked, pause(ANSWER_MS, false, { ref: false })])
}
