import { type Brand, brands } from '../../../src/domain/numbering/brand.ts'
import { type CommonType, commonTypes } from '../../../src/domain/senders/sender.ts'
import { type ListSearch, listSearchOf } from '../parts/lists/list-search.ts'

/** The names of the server. The page needs its own list, because it imports only types from the server. */
export const nameStates = ['approved', 'waiting', 'rejected', 'suspended', 'over'] as const
export type NameSearch = ListSearch<(typeof nameStates)[number]>
export const nameSearchOf: (search: Record<string, unknown>) => NameSearch = listSearchOf(nameStates)

/** The first values of a new request. */
export type NewNameSearch = { name?: string | undefined; brand?: Brand | undefined; type?: CommonType | undefined }

/** `undefined` removes an invalid value from the address. The router reads a text of digits as a number. */
export const newNameSearchOf = ({ name, brand, type }: Record<string, unknown>): NewNameSearch => ({
  name: typeof name === 'string' || typeof name === 'number' ? `${name}`.slice(0, 64) : undefined,
  brand: brands.find(one => one === brand),
  type: commonTypes.find(one => one === type),
})
