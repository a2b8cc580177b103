import { formatMoney, type Money } from '../../base/money.ts'

export const counteragentTypes = ['LEGAL', 'INDIVIDUAL'] as const
export const companyStatuses = ['ACTIVE', 'DISABLED'] as const

export type CompanyStatus = (typeof companyStatuses)[number]

export type Company = {
  companyId: number
  partnerId: number
  name: string
  counteragentType: (typeof counteragentTypes)[number]
  counteragentName: string
  counteragentInn: string
  counteragentAddress: string | null
  counteragentKpp: string | null
  actualAddress: string | null
  status: CompanyStatus
  budget: Money | null
  currency: string
  /** Whether it may be written to by subscribers. */
  inbound: boolean
  /** Most parts of all its dispatches a second. */
  partsPerSecond: number | null
  updatedAt: Date
}

/** The companies that a person may see: one company, all companies of a partner, or all companies. */
export type CompanyScope =
  | { kind: 'COMPANY'; companyId: number }
  | { kind: 'PARTNER'; partnerId: number }
  | { kind: 'STAFF' }

export const companyOrders = ['name', 'newest', 'spent'] as const
/** `spent`: by the spending of a month, highest first. */
export type CompanyOrder = { by: 'name' | 'newest' } | { by: 'spent'; month: string }

/** Which companies of a scope a list shows; a field that is absent leaves out none. */
export type CompanyFilter = {
  /** A part of the name, or the whole id or INN. */
  search?: string | undefined
  status?: CompanyStatus | undefined
  partnerId?: number | undefined
}

/** The company that a page of a list begins after, or ends before. Neither: the first page. */
export type CompanyPlace = { after?: number | undefined; before?: number | undefined }

export type NewCompany = Pick<Company, 'name' | 'counteragentType' | 'counteragentInn' | 'budget'> &
  Partial<Pick<Company, 'counteragentAddress' | 'counteragentKpp'>>

/** What an update may change; a field that is absent stays as it is. */
export type CompanyChange = Partial<Pick<Company, 'name' | 'actualAddress' | 'status' | 'budget'>>

/** What staff switch; a field that is absent stays as it is. */
export type CompanySwitches = Partial<Pick<Company, 'inbound' | 'partsPerSecond'>>

/** What the audit log compares. */
export const comparedFields = (company: Company) => ({
  name: company.name,
  counteragentType: company.counteragentType,
  counteragentInn: company.counteragentInn,
  counteragentAddress: company.counteragentAddress,
  counteragentKpp: company.counteragentKpp,
  actualAddress: company.actualAddress,
  budget: company.budget === null ? null : formatMoney(company.budget),
  inbound: company.inbound,
  rate: company.partsPerSecond,
})
