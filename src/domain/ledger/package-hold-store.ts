import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Package } from '../pricing/tariff.ts'

type Place = Pick<Package, 'tariffId' | 'from'>

export function insertHolds(sql: Sql, companyId: number, dispatchId: number, packages: Package[]) {
  return sql`
    insert into package_holds (company_id, dispatch_id, tariff_id, from_count, amount)
    select o.company_id, ${dispatchId}::bigint, q.* from companies o, unnest(
      ${packages.map(({ tariffId }) => tariffId)}::bigint[], ${packages.map(({ from }) => from)}::bigint[],
      ${packages.map(({ amount }) => formatMoney(amount))}::text[]::numeric[]) q
    where o.company_id = ${companyId}`
}

export function deleteHoldsOf(sql: Sql, companyId: number, dispatchIds: number[]) {
  return sql<{ amount: Money }[]>`
    delete from package_holds where company_id = ${companyId} and dispatch_id = any(${dispatchIds}::bigint[])
    returning amount`
}

export function deleteHoldsOn(sql: Sql, companyId: number, places: Place[]) {
  return sql<{ amount: Money }[]>`
    delete from package_holds h
    using unnest(
      ${places.map(({ tariffId }) => tariffId)}::bigint[], ${places.map(({ from }) => from)}::bigint[]
    ) q (tariff_id, from_count)
    where h.company_id = ${companyId} and h.tariff_id = q.tariff_id and h.from_count = q.from_count
    returning h.amount`
}
