import type { Brand } from '../../../../src/domain/numbering/brand.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'

const brands: readonly string[] = ['MTS', 'BEELINE', 'MEGAFON', 'TELE2'] satisfies Brand[]

/** The name of an operator. The server sends its id as text. */
export function useOperator() {
  const { operator } = useTrafficNames()
  return (brand: string) => (brands.includes(brand) ? operator(brand as Brand) : brand)
}
