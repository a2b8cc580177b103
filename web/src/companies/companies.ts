import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { companyOrders, companyStatuses } from '../../../src/domain/companies/company.ts'
import type {
  CompanyAnswer,
  CompanyListAnswer,
  ShownCompany,
} from '../../../src/http/cabinet/companies/company-list.ts'
import { ask, type Wire } from '../api.ts'

export type Shown = Wire<ShownCompany>
export type CompanyDetails = Wire<CompanyAnswer>
export type CompanyAccount = NonNullable<Shown['account']>

/** The filters in the URL. */
export type CompaniesSearch = {
  search?: string | undefined
  status?: (typeof companyStatuses)[number] | undefined
  order?: (typeof companyOrders)[number] | undefined
  after?: number | undefined
  before?: number | undefined
  /** True while the dialog for a new company is open. */
  new?: true | undefined
}

/** An invalid value becomes `undefined`. */
export const companiesSearchOf = (search: Record<string, unknown>): CompaniesSearch => ({
  // The router parses a text of digits as a number.
  search: search.search === undefined || search.search === '' ? undefined : String(search.search).slice(0, 100),
  status: companyStatuses.find(status => status === search.status),
  order: companyOrders.find(order => order === search.order && order !== 'name'),
  after: idOf(search.after),
  before: idOf(search.before),
  new: search.new === true ? true : undefined,
})

const idOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined)

export const COMPANIES = ['company-list'] as const
const REFRESH_MS = 30_000

type Filter = Omit<CompaniesSearch, 'new'> & { partnerId?: number | undefined }

export const listQuery = (filter: Filter) =>
  queryOptions({
    queryKey: [...COMPANIES, filter],
    queryFn: () => {
      const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
      return ask<CompanyListAnswer>('GET', `/company-list?${new URLSearchParams(given)}`)
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })

export const companyQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...COMPANIES, 'one', companyId],
    queryFn: () => ask<CompanyAnswer>('GET', `/companies/${companyId}`),
    refetchInterval: REFRESH_MS,
  })
