import type { CompanyStatus } from '../companies/company.ts'

export const keyTypes = ['MESSAGE', 'ENTITY', 'VERIFIER', 'BUILDER_WIDGET'] as const

/** The section of the messaging API that a key gives access to. */
export type KeyType = (typeof keyTypes)[number]

/** A key without its value, of which only a hash is stored. */
export type Key = {
  keyId: number
  companyId: number
  type: KeyType
  /** A name for people. May be empty. */
  name: string
  active: boolean
  /** Addresses and networks that may use the key. Empty: all. */
  addresses: string[]
  /** The traffic center of messages that are sent with a MESSAGE key. Other keys have none. */
  trafficCenterId: number | null
  trafficCenterName: string | null
  createdAt: Date
}

/** The fields that authentication needs. */
export type FoundKey = Omit<Key, 'name' | 'trafficCenterName' | 'createdAt'> & { companyStatus: CompanyStatus }

export const MOST_NAME = 100

/** The reason why a text cannot be the name of a key. Undefined if it can. */
export function refusalOfKeyName(name: string): string | undefined {
  if (name.length > MOST_NAME) return `must be at most ${MOST_NAME} characters`
  return /\p{Cc}/u.test(name) ? 'must be one line of text' : undefined
}
