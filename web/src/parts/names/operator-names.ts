import type { Brand } from '../../../../src/domain/numbering/brand.ts'
import { oneOf } from '../../search-values.ts'
import { useTrafficNames } from './traffic-names.ts'

/** The four brands in the order of all lists. */
export const brandNames = ['MTS', 'BEELINE', 'MEGAFON', 'TELE2'] as const satisfies readonly Brand[]

/** OTHER stands for the operators without a brand. */
export const operatorNames = [...brandNames, 'OTHER'] as const

/** The name of an operator. The server sends a brand, or the own name of another operator. */
export function useOperatorName() {
  const { operator } = useTrafficNames()
  return (name: string) => {
    const brand = oneOf(brandNames, name)
    return brand ? operator(brand) : name
  }
}
