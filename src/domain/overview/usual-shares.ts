import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import type { Days } from './days.ts'
import { selectWays, type WaySums } from './store.ts'

const MOST_KEPT = 1000

/**
 * What was delivered of each channel and operator in the seven days before today. These days do not change any more but
 * for late receipts, and are many rows where all companies are shown: kept in memory until the day is over.
 */
export class UsualShares {
  readonly #kept = new Map<string, Promise<WaySums[]>>()

  of(sql: Sql, scope: CompanyScope, days: Days): Promise<WaySums[]> {
    const key = `${keyOf(scope)} ${days.today.toISOString()}`
    const known = this.#kept.get(key)
    if (known) return known
    const asked = selectWays(sql, scope, days.weekBefore, days.today).then(rows => [...rows])
    this.#keep(key, asked)
    return asked
  }

  #keep(key: string, asked: Promise<WaySums[]>) {
    if (this.#kept.size >= MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(key, asked)
    asked.catch(() => this.#kept.delete(key))
  }
}

function keyOf(scope: CompanyScope): string {
  if (scope.kind === 'COMPANY') return `company ${scope.companyId}`
  return scope.kind === 'PARTNER' ? `partner ${scope.partnerId}` : 'all'
}
