import type { Sql } from '../../db/sql.ts'
import { openAccounts } from '../accounts/accounts.ts'
import type { Partner } from '../partners/partner.ts'
import type {
  Company,
  CompanyChange,
  CompanyFilter,
  CompanyOrder,
  CompanyPlace,
  CompanyScope,
  CompanySwitches,
  NewCompany,
} from './company.ts'

const columns = (sql: Sql) => sql`
  company_id, partner_id, name, counteragent_type,
  counteragent_name, counteragent_inn,
  counteragent_address, counteragent_kpp,
  actual_address, status, budget, currency, inbound,
  parts_per_second, updated_at`

export function insertCompany(sql: Sql, partner: Partner, company: NewCompany) {
  return sql<{ companyId: number }[]>`
    with company as (
      insert into companies (
        partner_id, name, counteragent_type, counteragent_name, counteragent_inn,
        counteragent_address, counteragent_kpp, budget, currency)
      values (
      ${partner.partnerId}, ${company.name}, ${company.counteragentType}, ${company.name}, ${company.counteragentInn},
      ${company.counteragentAddress ?? null}, ${company.counteragentKpp ?? null}, ${sqlMoney(sql, company.budget)},
      ${partner.currency})
      returning company_id)
    ${openAccounts(sql, sql`select company_id from company`)}
    returning company_id`
}

export function selectCompanies(sql: Sql, partnerId: number, offset: number, limit: number) {
  return sql<Company[]>`
    select ${columns(sql)} from companies where partner_id = ${partnerId}
    order by company_id offset ${offset} limit ${limit}`
}

export function countCompanies(sql: Sql, partnerId: number) {
  return sql<{ total: number }[]>`select count(*) as total from companies where partner_id = ${partnerId}`
}

/** In the order of the list, or from `before` backwards. Each order has an index for a partner and one for all. */
export function selectPage(
  sql: Sql,
  scope: CompanyScope,
  { search, status, partnerId }: CompanyFilter,
  order: CompanyOrder,
  { after, before }: CompanyPlace,
  limit: number,
) {
  const from = before ?? after
  const isUpward = (order.by !== 'newest') === (before === undefined)
  const direction = isUpward ? sql`asc` : sql`desc`
  const first = { name: sql`lower(name)`, spent: sql`-spent`, newest: undefined }[order.by]
  const key = first ? sql`${first}, company_id` : sql`company_id`
  const source = order.by === 'spent' ? withSpent(sql, order.month) : sql`companies`
  const keyOfFrom = sql`select ${key} from ${source} where company_id = ${from ?? 0}`
  const isBeyond = isUpward ? sql`(${key}) > (${keyOfFrom})` : sql`(${key}) < (${keyOfFrom})`
  return sql<Company[]>`
    select ${columns(sql)} from ${source}
    where ${search ? isFound(sql, scope, search) : isInScope(sql, scope)}
      ${from === undefined ? sql`` : sql`and ${isBeyond}`}
      ${status === undefined ? sql`` : sql`and status = ${status}::company_status`}
      ${partnerId === undefined ? sql`` : sql`and partner_id = ${partnerId}`}
    order by ${first ? sql`${first} ${direction},` : sql``} company_id ${direction} limit ${limit}`
}

/** Reads at most `most` companies. */
export const countUpTo = (sql: Sql, scope: CompanyScope, partnerId: number | undefined, most: number) =>
  sql<{ total: number }[]>`
    select count(*)::int as total from (
      select company_id from companies
      where ${isInScope(sql, scope)} ${partnerId === undefined ? sql`` : sql`and partner_id = ${partnerId}`}
      limit ${most}) counted`

/** Reads every company of the scope, because spending has no index by amount. */
const withSpent = (sql: Sql, month: string) => sql`(
  select c.*, coalesce(m.spent, 0) as spent
  from companies c left join account_months m on m.company_id = c.company_id and m.month = ${month}) companies`

/** Reads the company with the lock of `lockCompanyRow`. */
export const lockCompany = (sql: Sql, companyId: number) =>
  sql<Company[]>`select ${columns(sql)} from companies where company_id = ${companyId} for no key update`

/** The search is a part of the name, or the whole company id or INN. Empty: every company of the scope. */
const isFound = (sql: Sql, scope: CompanyScope, search: string) => sql`
  ${isInScope(sql, scope)}
  and (position(lower(${search}::text) in lower(name)) > 0 or company_id::text = ${search} or counteragent_inn = ${search})`

function isInScope(sql: Sql, scope: CompanyScope) {
  if (scope.kind === 'COMPANY') return sql`company_id = ${scope.companyId}`
  if (scope.kind === 'PARTNER') return sql`partner_id = ${scope.partnerId}`
  return sql`true`
}

export function selectFoundCompanies(sql: Sql, scope: CompanyScope, search: string, offset: number, limit: number) {
  return sql<Company[]>`
    select ${columns(sql)} from companies where ${isFound(sql, scope, search)}
    order by company_id offset ${offset} limit ${limit}`
}

export const countFoundCompanies = (sql: Sql, scope: CompanyScope, search: string) =>
  sql<{ total: number }[]>`select count(*) as total from companies where ${isFound(sql, scope, search)}`

export const selectCompanyIds = (sql: Sql, scope: CompanyScope, limit: number) =>
  sql<{ companyId: number }[]>`
    select company_id from companies where ${isInScope(sql, scope)} order by company_id limit ${limit}`

export function selectCompany(sql: Sql, partnerId: number, companyId: number) {
  return sql<Company[]>`
    select ${columns(sql)} from companies where company_id = ${companyId} and partner_id = ${partnerId}`
}

export const selectAnyCompany = (sql: Sql, companyId: number) =>
  sql<Company[]>`select ${columns(sql)} from companies where company_id = ${companyId}`

export const listAllCompanies = (sql: Sql) => sql<Company[]>`select ${columns(sql)} from companies order by company_id`

export function updateCompany(sql: Sql, partnerId: number, companyId: number, change: CompanyChange) {
  const given = <K extends keyof CompanyChange>(field: K) => change[field] !== undefined
  return sql<{ companyId: number; updatedAt: Date }[]>`
    update companies set
      name = case when ${given('name')} then ${change.name ?? null} else name end,
      actual_address = case when ${given('actualAddress')} then ${change.actualAddress ?? null} else actual_address end,
      status = case when ${given('status')} then ${change.status ?? null}::company_status else status end,
      budget = case when ${given('budget')} then ${sqlMoney(sql, change.budget)} else budget end,
      updated_at = statement_timestamp()
    where company_id = ${companyId} and partner_id = ${partnerId}
    returning company_id, updated_at`
}

export function updateSwitches(sql: Sql, companyId: number, { inbound, partsPerSecond }: CompanySwitches) {
  return sql`
    update companies set
      inbound = coalesce(${inbound ?? null}, inbound),
      parts_per_second = case when ${partsPerSecond !== undefined} then ${partsPerSecond ?? null} else parts_per_second end,
      updated_at = statement_timestamp()
    where company_id = ${companyId}`
}

const sqlMoney = (sql: Sql, amount: Company['budget'] | undefined) =>
  amount === null || amount === undefined ? null : sql.typed.money(amount)
