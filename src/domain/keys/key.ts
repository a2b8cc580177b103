import type { CompanyStatus } from '../companies/company.ts'

export const keyTypes = ['MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET'] as const

/** Which section of the messaging API a key opens. */
export type KeyType = (typeof keyTypes)[number]

/** Without its value: of that, only a hash is kept. */
export type Key = {
  keyId: number
  companyId: number
  type: KeyType
  /** What people call it; may be empty. */
  name: string
  active: boolean
  /** Addresses and networks it may be used from; none means from anywhere. */
  addresses: string[]
  /** What is sent with a MESSAGE key belongs to this center; other keys have none. */
  trafficCenterId: number | null
  trafficCenterName: string | null
  createdAt: Date
}

/** What must be known to let a caller in. */
export type FoundKey = Omit<Key, 'name' | 'trafficCenterName' | 'createdAt'> & { companyStatus: CompanyStatus }

export const MOST_NAME = 100

/** Why this is no name of a key; undefined when it is. */
export function refusalOfKeyName(name: string): string | undefined {
  if (name.length > MOST_NAME) return `must be at most ${MOST_NAME} characters`
  return /\p{Cc}/u.test(name) ? 'must be one line of text' : undefined
}
