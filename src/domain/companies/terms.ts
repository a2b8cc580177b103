import { formatMoney, type Money } from '../../base/money.ts'
import type { Sql } from '../../db/sql.ts'

export const billingModes = ['POSTPAID', 'PREPAID'] as const

/** A postpaid company is limited by its budget alone. A prepaid company is limited by its balance, too. */
export type BillingMode = (typeof billingModes)[number]

/** How a company pays, and how much it may spend in a month. */
export type Terms = { budget: Money | null; billing: BillingMode }

/** Changes the terms unless another person has changed them since they were read. */
export function replaceTerms(sql: Sql, companyId: number, before: Terms, after: Terms) {
  const amount = ({ budget }: Terms) => (budget === null ? null : formatMoney(budget))
  return sql`
    update companies set budget = ${amount(after)}::text::numeric, billing = ${after.billing}, updated_at = statement_timestamp()
    where company_id = ${companyId} and budget is not distinct from ${amount(before)}::text::numeric
      and billing = ${before.billing}`
}

export const updateBilling = (sql: Sql, companyId: number, billing: BillingMode) =>
  sql`update companies set billing = ${billing}, updated_at = statement_timestamp() where company_id = ${companyId}`
