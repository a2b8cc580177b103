import type { Sql } from '../../db/sql.ts'
import type { TrafficCenter } from './traffic-center.ts'

const columns = (sql: Sql) => sql`center_id as "centerId", company_id as "companyId", name, is_default as "isDefault"`

export const selectCenters = (sql: Sql, companyId: number) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} order by center_id`

export const selectDefaultCenter = (sql: Sql, companyId: number) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} and is_default`

export const selectCenterByName = (sql: Sql, companyId: number, name: string) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} and name = ${name}`

/** Nothing when somebody else was faster; then theirs is committed, and the next statement sees it. */
export function insertCenter(sql: Sql, companyId: number, name: string, isDefault: boolean) {
  return sql<TrafficCenter[]>`
    insert into traffic_centers (company_id, name, is_default) values (${companyId}, ${name}, ${isDefault})
    on conflict do nothing
    returning ${columns(sql)}`
}
