import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import * as store from './store.ts'
import { DEFAULT_CENTER_NAME, refusalOfCenterName, type TrafficCenter } from './traffic-center.ts'

export const listCenters = (sql: Sql, companyId: number): Promise<TrafficCenter[]> =>
  store.selectCenters(sql, companyId)

/** The company's default center, made when it is first asked for. The company must exist. */
export async function defaultCenter(sql: Sql, companyId: number): Promise<TrafficCenter> {
  const find = () => store.selectDefaultCenter(sql, companyId)
  return findOrInsert(find, () => store.insertCenter(sql, companyId, DEFAULT_CENTER_NAME, true))
}

/**
 * The company's center of that name, made when there is none. The default one is made before any other, so that its
 * name is never taken when it is needed.
 */
export async function centerCalled(sql: Sql, companyId: number, name: string): Promise<TrafficCenter> {
  const refusal = refusalOfCenterName(name)
  if (refusal) throw invalid(`center: ${refusal}`)
  await defaultCenter(sql, companyId)
  const find = () => store.selectCenterByName(sql, companyId, name)
  return findOrInsert(find, () => store.insertCenter(sql, companyId, name, false))
}

/**
 * Makes a center the default one: where what matches no rule belongs from now on, and keys and rules that are made
 * without naming a center. What is there already stays where it is.
 */
export function moveDefault(pool: Pool, companyId: number, name: string): Promise<TrafficCenter> {
  return pool.begin(async sql => {
    if ((await store.lockCompany(sql, companyId)).count === 0) throw notFound('Company')
    await defaultCenter(sql, companyId)
    await store.clearDefaultCenter(sql, companyId)
    const [center] = await store.setDefaultCenter(sql, companyId, name)
    if (!center) throw notFound('Traffic center')
    return center
  }) as Promise<TrafficCenter>
}

type Rows = PromiseLike<TrafficCenter[]>

/** Looks first, for an insert that meets a conflict would still use up an id; looks again when another was faster. */
async function findOrInsert(find: () => Rows, insert: () => Rows): Promise<TrafficCenter> {
  const center = (await find())[0] ?? (await insert())[0] ?? (await find())[0]
  return center!
}
