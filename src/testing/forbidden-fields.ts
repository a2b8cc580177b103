import { expect } from 'vitest'
import type { Pool } from '../db/sql.ts'

/** The values of fields that no request may set. They are found again in any table. */
const NUMBER = 987_654_321
const TEXT = `of-${NUMBER}`

type Owner = { companyId: number; partnerId: number }

/** Fields that a client may hope to set: of another owner, of another object, a role, a status or money. */
const forbidden = ({ companyId, partnerId }: Owner): Record<string, unknown> => ({
  companyId,
  company_id: companyId,
  partnerId,
  id: NUMBER,
  senderId: NUMBER,
  dispatchId: NUMBER,
  templateId: NUMBER,
  messageUuid: TEXT,
  personId: NUMBER,
  createdBy: TEXT,
  createdAt: TEXT,
  price: NUMBER,
  balance: NUMBER,
  budget: NUMBER,
  currency: TEXT,
  rate: NUMBER,
  partsPerSecond: NUMBER,
  status: TEXT,
  state: TEXT,
  role: TEXT,
  kind: TEXT,
  reviewComment: TEXT,
  __proto__x: TEXT,
})

/** The body with forbidden fields in every object of it, except the fields that the route has. */
export function withForbidden(body: unknown, known: string[], owner: Owner): unknown {
  if (Array.isArray(body)) return body.map(item => withForbidden(item, known, owner))
  if (typeof body !== 'object' || body === null) return body
  const own = Object.entries(body).map(([name, value]) => [name, withForbidden(value, known, owner)])
  const more = Object.entries(forbidden(owner)).filter(([name]) => !(name in body) && !known.includes(name))
  return Object.fromEntries([...own, ...more])
}

/** Fails if a forbidden value was stored, or if a row of this owner was added or changed by `work`. */
export async function expectNothingAssigned(sql: Pool, { companyId }: Owner, work: () => Promise<unknown>) {
  const before = await rowsOf(sql, companyId)
  await work()
  expect(await rowsOf(sql, companyId)).toEqual(before)
  expect(await tablesWith(sql, `%${NUMBER}%`)).toEqual([])
}

async function rowsOf(sql: Pool, companyId: number) {
  const tables = (await tablesOf(sql)).filter(({ hasCompany }) => hasCompany)
  return sql.unsafe(
    tables
      .map(
        ({ name }) =>
          `select '${name}' as name, count(*), sum(hashtextextended(t::text, 0)::numeric) from ${name} t where company_id = ${companyId}`,
      )
      .join(' union all '),
  )
}

async function tablesWith(sql: Pool, pattern: string): Promise<string[]> {
  const counts = (await tablesOf(sql)).map(
    ({ name }) => `select '${name}' as name from ${name} t where t::text like '${pattern}'`,
  )
  const rows = (await sql.unsafe(counts.join(' union '))) as unknown as { name: string }[]
  return rows.map(({ name }) => name)
}

const tablesOf = (sql: Pool) => sql<{ name: string; hasCompany: boolean }[]>`
  select relname as name, exists (
    select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id') as has_company
  from pg_class c
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname not in ('requests', 'request_minutes', 'key_uses', 'api_processes')
  order by 1`
