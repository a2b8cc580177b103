import { isDatabaseAway } from '../base/database-losses.ts'
import type { Sql } from './sql.ts'

/**
 * Does the work for each company with statements of its own. In a sharded database all rows of a company are on one
 * node: such a statement asks that node alone, and when it is away, the companies of other nodes go on. Throws when the
 * node of every company is away.
 */
export async function byCompany<Item extends { companyId: number }, Result>(
  items: readonly Item[],
  work: (companyId: number, items: Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const groups = [...Map.groupBy(items, ({ companyId }) => companyId)]
  const outcomes = await Promise.allSettled(groups.map(([companyId, own]) => work(companyId, own)))
  const failed = outcomes.filter(outcome => outcome.status === 'rejected')
  const serious = failed.find(({ reason }) => failed.length === outcomes.length || !isDatabaseAway(reason))
  if (serious) throw serious.reason
  return outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? outcome.value : []))
}

type Sweep = { batch: number; mostBatches: number }

/**
 * Deletes rows of all companies in batches, so that no statement takes long: `find` returns the keys of some rows, and
 * `remove` deletes the rows of one company and returns them. The next call deletes the rows that are left after
 * `mostBatches`.
 */
export async function sweep<Key extends { companyId: number }>(
  find: (limit: number) => Promise<readonly Key[]>,
  remove: (companyId: number, keys: Key[]) => Promise<readonly unknown[]>,
  { batch, mostBatches }: Sweep,
): Promise<void> {
  for (let i = 0; i < mostBatches; i++) {
    const removed = await byCompany(await find(batch), remove)
    if (removed.length < batch) return
  }
}

const COMPANIES_AT_ONCE = 1000

/** Runs slow work for one company after another. The companies of a node that is away are left out. */
export async function everyCompany(sql: Sql, work: (companyId: number) => Promise<unknown>): Promise<void> {
  for (let after = 0; ; ) {
    const companies = await sql<{ companyId: number }[]>`
      select company_id from companies where company_id > ${after} order by company_id limit ${COMPANIES_AT_ONCE}`
    for (const { companyId } of companies) await work(companyId).catch(ignoreAway)
    const last = companies.at(-1)
    if (!last || companies.length < COMPANIES_AT_ONCE) return
    after = last.companyId
  }
}

function ignoreAway(error: unknown) {
  if (!isDatabaseAway(error)) throw error
}
