import { LRUCache } from 'lru-cache'
import type { Sql } from '../../db/sql.ts'
import type { CompanyScope } from '../companies/company.ts'
import type { Days } from './days.ts'
import { type ChannelSums, selectChannelSums } from './store.ts'

const MOST_KEPT = 1000

/**
 * The share of delivered messages of each channel and operator in the seven days before today. Only late receipts change
 * these days, and all companies together have many rows. So memory keeps the shares until the day ends.
 */
export class UsualShares {
  readonly #kept = new LRUCache<string, Promise<ChannelSums[]>>({ max: MOST_KEPT })

  of(sql: Sql, scope: CompanyScope, days: Days): Promise<ChannelSums[]> {
    const key = `${keyOf(scope)} ${days.today.toISOString()}`
    const known = this.#kept.get(key)
    if (known) return known
    const asked = selectChannelSums(sql, scope, days.weekBefore, days.today).then(rows => [...rows])
    this.#keep(key, asked)
    return asked
  }

  #keep(key: string, asked: Promise<ChannelSums[]>) {
    this.#kept.set(key, asked)
    asked.catch(() => this.#kept.delete(key))
  }
}

function keyOf(scope: CompanyScope): string {
  if (scope.kind === 'COMPANY') return `company ${scope.companyId}`
  return scope.kind === 'PARTNER' ? `partner ${scope.partnerId}` : 'all'
}
