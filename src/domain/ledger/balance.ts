import { notFound } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'
import { selectBalance } from './balance-store.ts'

/** The payments minus the charges. Reservations are not subtracted. */
export async function balanceOf(sql: Sql, companyId: number): Promise<{ balance: Money; currency: string }> {
  const [account] = await selectBalance(sql, companyId)
  if (!account) throw notFound('Company')
  return account
}
