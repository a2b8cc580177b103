import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { lockCompanyRow } from '../companies/lock.ts'
import * as store from './store.ts'
import { DEFAULT_CENTER_NAME, MOST_CENTERS, refusalOfCenterName, type TrafficCenter } from './traffic-center.ts'

export { listCenters } from './store.ts'

/** The default center of a company. The first call makes it. The company must exist. */
export async function defaultCenter(sql: Sql, companyId: number): Promise<TrafficCenter> {
  const find = () => store.selectDefaultCenter(sql, companyId)
  return findOrInsert(find, () => store.insertCenter(sql, companyId, DEFAULT_CENTER_NAME, true))
}

/**
 * The company's center with that name. A new name makes a new center. The default center is made before all others, so
 * that no other center takes its name.
 */
export async function ensureCenter(sql: Sql, companyId: number, name: string): Promise<TrafficCenter> {
  const refusal = refusalOfCenterName(name)
  if (refusal) throw invalidField('center', refusal)
  await defaultCenter(sql, companyId)
  const find = () => store.selectCenterByName(sql, companyId, name)
  return findOrInsert(find, async () => {
    const { length } = await store.listCenters(sql, companyId)
    if (length >= MOST_CENTERS) throw invalid(`A company has at most ${MOST_CENTERS} traffic centers`)
    return store.insertCenter(sql, companyId, name, false)
  })
}

/**
 * Makes a center the default. It gets inbound messages that match no rule, and new keys and rules that name no center.
 * Existing keys, rules and messages keep their center.
 */
export const setDefaultCenter = (pool: Pool, companyId: number, name: string): Promise<TrafficCenter> =>
  pool.begin(sql => setDefaultCenterWithin(sql, companyId, name))

/** The same as a part of a larger transaction. A second transaction waits until the first ends. */
export async function setDefaultCenterWithin(
  sql: Transaction,
  companyId: number,
  name: string,
): Promise<TrafficCenter> {
  await lockCenters(sql, companyId)
  await store.clearDefaultCenter(sql, companyId)
  const [center] = await store.setDefaultCenter(sql, companyId, name)
  if (!center) throw notFound('Traffic center')
  return center
}

/** Locks the choice of the default until the transaction ends, and the company with it. Returns the present default. */
export async function lockCenters(sql: Transaction, companyId: number): Promise<TrafficCenter> {
  if ((await lockCompanyRow(sql, companyId)).count === 0) throw notFound('Company')
  return defaultCenter(sql, companyId)
}

type Rows = PromiseLike<TrafficCenter[]>

/** Looks first, for an insert that meets a conflict would still use up an id; looks again when another was faster. */
async function findOrInsert(find: () => Rows, insert: () => Rows): Promise<TrafficCenter> {
  const center = (await find())[0] ?? (await insert())[0] ?? (await find())[0]
  return center!
}
