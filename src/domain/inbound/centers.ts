import { notFound } from '../../base/errors.ts'
import type { Pool } from '../../db/sql.ts'
import type { TrafficCenter } from '../traffic-centers/traffic-center.ts'
import { defaultCenter } from '../traffic-centers/traffic-centers.ts'
import * as store from './store.ts'

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
