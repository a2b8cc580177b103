import { Gauge, type Registry } from 'prom-client'
import type { Sql } from '../../db/sql.ts'
import type { Billing } from '../../domain/ledger/account.ts'
import { exhaustedCompanies } from '../../domain/ledger/spending.ts'

/** Companies whose messages are refused because they cannot pay. */
export function moneyMetrics(registry: Registry) {
  const exhausted = new Gauge({
    name: 'tidings_companies_exhausted',
    help: 'Companies that spent money this month and have nothing left of their budget or balance',
    labelNames: ['kind'],
    registers: [registry],
  })
  return {
    async refresh(sql: Sql, billing: Billing): Promise<void> {
      exhausted.reset()
      const counts = await exhaustedCompanies(sql, billing)
      for (const [kind, count] of Object.entries(counts)) exhausted.set({ kind }, count)
    },
  }
}
