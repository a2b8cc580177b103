import { isNodeAway } from '../base/database-losses.ts'
import { acrossCompanies, ignoreNodeAway, reachable } from './reachable.ts'
import type { Sql } from './sql.ts'

const COMPANIES_AT_ONCE = 10

/**
 * Does the work for each company with statements of its own. In a sharded database all rows of a company are on one
 * node: such a statement asks that node alone, and when it is away, the companies of other nodes go on. The work of a
 * company that fails is left out, because rows that were claimed for the others must be served. It is found again and
 * fails again; when it fails for every company, this function throws. The others do not wait for a company whose work is
 * slow, unless as many companies as are served at once are slow.
 */
export async function byCompany<Item extends { companyId: number }, Result>(
  items: readonly Item[],
  work: (companyId: number, items: Item[]) => Promise<readonly Result[]>,
  atOnce = COMPANIES_AT_ONCE,
): Promise<Result[]> {
  const companies = [...Map.groupBy(items, ({ companyId }) => companyId)]
  const results: Result[][] = []
  const failures: unknown[] = []
  let next = 0
  let succeeded = 0
  const serveInTurn = async () => {
    while (next < companies.length) {
      const place = next++
      const [companyId, own] = companies[place]!
      try {
        results[place] = [...(await work(companyId, own))]
        succeeded += 1
      } catch (error) {
        failures.push(error)
        if (succeeded === 0 && !isNodeAway(error)) return // the database itself may be away
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, serveInTurn))
  if (succeeded === 0 && failures.length > 0) throw failures[0]
  return results.flat()
}

/** Does the work of one item after another. Once the node of a company is away, further items of the company are left out. */
export async function oneByOne<Item extends { companyId: number }>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const lost = new Set<number>()
  for (const item of items) {
    if (lost.has(item.companyId)) continue
    await work(item).catch(error => {
      ignoreNodeAway(error)
      lost.add(item.companyId)
    })
  }
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

const PAGE = 1000

/** Runs slow work for one company after another. The companies of a node that is away are left out. */
export async function everyCompany(sql: Sql, work: (companyId: number) => Promise<unknown>): Promise<void> {
  for (let after = 0; ; ) {
    const page = () => sql<{ companyId: number }[]>`
      select company_id from companies where company_id > ${after} ${reachable(sql)} order by company_id limit ${PAGE}`
    const companies = await acrossCompanies(sql, page)
    for (const { companyId } of companies) await work(companyId).catch(ignoreNodeAway)
    const last = companies.at(-1)
    if (!last || companies.length < PAGE) return
    after = last.companyId
  }
}
