import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import type { Package } from '../pricing/tariff.ts'
import * as store from './package-hold-store.ts'

/**
 * Packages of unique recipients that started dispatches could reach. Each holds those within its own reach; a package
 * is charged once a month, and then nobody holds it any more, so what is spent is never reserved besides. What is let
 * go of is returned: the caller holds the account's lock and takes it off the reservation.
 */

export async function holdPackages(sql: Sql, companyId: number, dispatchId: number, packages: Package[]) {
  if (packages.length > 0) await store.insertHolds(sql, companyId, dispatchId, packages)
}

/** Of dispatches that were stopped or completed. */
export async function letGoOfPackages(sql: Sql, companyId: number, dispatchIds: number[]): Promise<Money> {
  return dispatchIds.length > 0 ? sum(await store.deleteHoldsOf(sql, companyId, dispatchIds)) : 0n
}

/** Of packages that were charged. */
export async function letGoOfCharged(sql: Sql, companyId: number, packages: Pick<Package, 'tariffId' | 'from'>[]) {
  return packages.length > 0 ? sum(await store.deleteHoldsOn(sql, companyId, packages)) : 0n
}

const sum = (holds: { amount: Money }[]): Money => holds.reduce((total, { amount }) => total + amount, 0n)
