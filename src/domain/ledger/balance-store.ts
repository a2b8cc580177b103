import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'

export function selectBalance(sql: Sql, companyId: number) {
  return sql<{ balance: Money; currency: string }[]>`
    select a.balance, c.currency from accounts a join companies c on c.company_id = a.company_id
    where a.company_id = ${companyId}`
}
