import type { Money } from '../../base/money.ts'

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

/** Which companies somebody may look at: one, those of a partner, or every one. */
export type CompanyScope =
  | { kind: 'COMPANY'; companyId: number }
  | { kind: 'PARTNER'; partnerId: number }
  | { kind: 'STAFF' }

export type NewCompany = Pick<Company, 'name' | 'counteragentType' | 'counteragentInn' | 'budget'> &
  Partial<Pick<Company, 'counteragentAddress' | 'counteragentKpp'>>

/** What an update may change; a field that is absent stays as it is. */
export type CompanyChange = Partial<Pick<Company, 'name' | 'actualAddress' | 'status' | 'budget'>>

/** What staff switch; a field that is absent stays as it is. */
export type CompanySwitches = Partial<Pick<Company, 'inbound' | 'partsPerSecond'>>
