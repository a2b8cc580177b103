import type { Sql } from '../../db/sql.ts'
import type { TrafficCenter } from './traffic-center.ts'

const columns = (sql: Sql) => sql`center_id, company_id, name, is_default`

export const listCenters = (sql: Sql, companyId: number) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} order by center_id`

export const selectDefaultCenter = (sql: Sql, companyId: number) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} and is_default`

export const selectCenterByName = (sql: Sql, companyId: number, name: string) =>
  sql<TrafficCenter[]>`select ${columns(sql)} from traffic_centers where company_id = ${companyId} and name = ${name}`

/** Returns no row if another transaction made the center first. That transaction is committed, and the next statement sees it. */
export function insertCenter(sql: Sql, companyId: number, name: string, isDefault: boolean) {
  return sql<TrafficCenter[]>`
    insert into traffic_centers (company_id, name, is_default) values (${companyId}, ${name}, ${isDefault})
    on conflict do nothing
    returning ${columns(sql)}`
}

export const clearDefaultCenter = (sql: Sql, companyId: number) =>
  sql`update traffic_centers set is_default = false where company_id = ${companyId} and is_default`

export function setDefaultCenter(sql: Sql, companyId: number, name: string) {
  return sql<TrafficCenter[]>`
    update traffic_centers set is_default = true where company_id = ${companyId} and name = ${name}
    returning ${columns(sql)}`
}
