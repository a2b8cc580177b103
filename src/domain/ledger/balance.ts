import { notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { selectBalance } from './balance-store.ts'

/** What came in less what was spent; what is reserved counts as not spent yet. */
export async function balanceOf(sql: Sql, companyId: number): Promise<{ balance: Money; currency: string }> {
  const [account] = await selectBalance(sql, companyId)
  if (!account) throw notFound('Company')
  return account
}
