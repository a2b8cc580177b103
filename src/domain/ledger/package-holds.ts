import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Package } from '../pricing/tariff.ts'
import * as store from './package-hold-store.ts'

/**
 * Packages of unique recipients that started dispatches could reach. Each dispatch holds the packages that it could
 * reach. A package is charged once a month, and the charge removes all its holds, so that no amount is both charged and
 * reserved. Functions that release holds return the amount: the caller has locked the statuses, and reduces the
 * reservation.
 */

export async function holdPackages(sql: Sql, companyId: number, dispatchId: number, packages: Package[]) {
  if (packages.length > 0) await store.insertHolds(sql, companyId, dispatchId, packages)
}

/** Releases the packages of dispatches that were stopped or completed. */
export async function releasePackages(sql: Sql, companyId: number, dispatchIds: number[]): Promise<Money> {
  return dispatchIds.length > 0 ? sum(await store.deleteHoldsOf(sql, companyId, dispatchIds)) : 0n
}

/** Releases the holds of all dispatches on packages that were charged. */
export async function releaseChargedPackages(
  sql: Sql,
  companyId: number,
  packages: Pick<Package, 'tariffId' | 'from'>[],
) {
  return packages.length > 0 ? sum(await store.deleteHoldsOn(sql, companyId, packages)) : 0n
}

const sum = (holds: { amount: Money }[]): Money => holds.reduce((total, { amount }) => total + amount, 0n)
