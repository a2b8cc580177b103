import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { Partner } from '../partners/partner.ts'
import type {
  Company,
  CompanyChange,
  CompanyFilter,
  CompanyOrder,
  CompanyPlace,
  CompanyScope,
  CompanyStatus,
  CompanySwitches,
  NewCompany,
} from './company.ts'
import { lockCompanyRow } from './lock.ts'
import * as store from './store.ts'

export { listAllCompanies } from './store.ts'

export async function createCompany(sql: Sql, partner: Partner, company: NewCompany): Promise<{ companyId: number }> {
  const [created] = await store.insertCompany(sql, partner, company)
  return created!
}

type FoundCompanies = { total: number; items: Company[] }

export async function listCompanies(
  sql: Sql,
  partner: Partner,
  page: number,
  perPage: number,
): Promise<FoundCompanies> {
  const [[count], items] = await Promise.all([
    store.countCompanies(sql, partner.partnerId),
    store.selectCompanies(sql, partner.partnerId, (page - 1) * perPage, perPage),
  ])
  return { total: count!.total, items }
}

/** Companies whose name, number or INN fits, of the scope that the caller may see. */
export async function searchCompanies(
  sql: Sql,
  scope: CompanyScope,
  search: string,
  page: number,
  perPage: number,
): Promise<FoundCompanies> {
  const [[count], items] = await Promise.all([
    store.countFoundCompanies(sql, scope, search),
    store.selectFoundCompanies(sql, scope, search, (page - 1) * perPage, perPage),
  ])
  return { total: count!.total, items }
}

/** A page of companies. It costs the same however many companies there are: the next page begins where this one ends. */
export async function pageOfCompanies(
  sql: Sql,
  scope: CompanyScope,
  filter: CompanyFilter,
  order: CompanyOrder,
  place: CompanyPlace,
  perPage: number,
  mostSorted = MOST_SORTED,
) {
  if (order.by === 'spent') await refuseTooMany(sql, scope, filter, mostSorted)
  const isBackward = place.before !== undefined
  const found = await store.selectPage(sql, scope, filter, order, place, perPage + 1)
  const hasMore = found.length > perPage
  const items: Company[] = isBackward ? found.slice(0, perPage).reverse() : found.slice(0, perPage)
  return {
    items,
    hasBefore: isBackward ? hasMore : place.after !== undefined,
    hasAfter: isBackward ? true : hasMore,
  }
}

/** Spending has no index by amount, because each charge would have to update it. So every company of the scope is read. */
const MOST_SORTED = 50_000

async function refuseTooMany(sql: Sql, scope: CompanyScope, { partnerId }: CompanyFilter, most: number): Promise<void> {
  const [row] = await store.countUpTo(sql, scope, partnerId, most + 1)
  if (row!.total > most)
    throw invalidField('order', `more than ${most} companies cannot be sorted by what they spent: choose a partner`)
}

/** A company of this scope. A company outside the scope is not found. */
export async function requireCompanyWithin(sql: Sql, scope: CompanyScope, companyId: number): Promise<Company> {
  const company = await requireAnyCompany(sql, companyId)
  const isWithin =
    scope.kind === 'STAFF' ||
    (scope.kind === 'PARTNER' ? company.partnerId === scope.partnerId : companyId === scope.companyId)
  if (!isWithin) throw notFound('Company')
  return company
}

/** More companies than this are not searched at once. */
const MOST_COMPANIES = 10_000

/** The companies that a person of this scope may look at; with `companyId`, that one alone. */
export async function companyIdsWithin(sql: Sql, scope: CompanyScope, companyId?: number): Promise<number[]> {
  if (scope.kind === 'COMPANY' && companyId === undefined) return [scope.companyId]
  if (companyId !== undefined) return [(await requireCompanyWithin(sql, scope, companyId)).companyId]
  return (await store.selectCompanyIds(sql, scope, MOST_COMPANIES)).map(row => row.companyId)
}

/** A company of this partner. A company of another partner is not found. */
export async function requireCompany(sql: Sql, partner: Partner, companyId: number): Promise<Company> {
  const [company] = await store.selectCompany(sql, partner.partnerId, companyId)
  if (!company) throw notFound('Company')
  return company
}

export async function requireActiveCompany(sql: Sql, partner: Partner, companyId: number): Promise<Company> {
  const company = await requireCompany(sql, partner, companyId)
  if (company.status !== 'ACTIVE') throw invalidField('companyId', 'the company is disabled')
  return company
}

export async function updateCompany(sql: Sql, partner: Partner, companyId: number, change: CompanyChange) {
  await requireCompany(sql, partner, companyId) // before the lock: a partner must not lock a company of another partner
  await lockCompanyRow(sql, companyId)
  const [updated] = await store.updateCompany(sql, partner.partnerId, companyId, change)
  if (!updated) throw notFound('Company')
  return updated
}

/** For staff: a company of whichever partner. */
export async function requireAnyCompany(sql: Sql, companyId: number): Promise<Company> {
  const [company] = await store.selectAnyCompany(sql, companyId)
  if (!company) throw notFound('Company')
  return company
}

/**
 * Locks a company until the end of the transaction and gives it as it is now. Refused when it was changed after the
 * moment that a form knew it by: the form would overwrite values that its person has not seen.
 */
export async function lockUnchanged(sql: Transaction, companyId: number, knownAt: Date): Promise<Company> {
  const [company] = await store.lockCompany(sql, companyId)
  if (!company) throw notFound('Company')
  if (company.updatedAt.getTime() !== knownAt.getTime())
    throw invalid('The company was changed meanwhile: load it again and repeat your change')
  return company
}

/**
 * Its running dispatches pause while it is DISABLED and go on when it is ACTIVE again. Gives the company as it was
 * before, locked in a transaction: of two people who disable it at once, one has changed something.
 */
export async function setCompanyStatus(sql: Sql, companyId: number, status: CompanyStatus): Promise<Company> {
  const [before] = await store.lockCompany(sql, companyId)
  if (!before) throw notFound('Company')
  await store.updateCompany(sql, before.partnerId, companyId, { status })
  return before
}

/** For staff. Running engines follow within a second. */
export async function setSwitches(sql: Sql, companyId: number, switches: CompanySwitches): Promise<void> {
  await lockCompanyRow(sql, companyId)
  const { count } = await store.updateSwitches(sql, companyId, switches)
  if (count === 0) throw notFound('Company')
}
