/** The four networks that sell their own sender names. Every other operator is brand 0 and keeps its own name. */
export const brandIds = { MTS: 1, BEELINE: 2, MEGAFON: 3, TELE2: 4 } as const
export const OTHER_BRAND_ID = 0

export type Brand = keyof typeof brandIds

export const brands = Object.keys(brandIds) as Brand[]

export const brandOf = (brandId: number): Brand | undefined => brands[brandId - 1]

export interface Operator {
  inn: string
  name: string
}

/** An operator whose subscribers are reached through the network of a brand: the network itself or a virtual one. */
export interface Carrier extends Operator {
  brandId: number
}

const networks: Carrier[] = [
  { inn: '7740000076', name: 'ПАО "МТС"', brandId: brandIds.MTS },
  { inn: '7740000076', name: 'ПАО "Мобильные ТелеСистемы"', brandId: brandIds.MTS },
  { inn: '7713076301', name: 'ПАО "ВымпелКом"', brandId: brandIds.BEELINE },
  { inn: '7713076301', name: 'ПАО "Вымпел-Коммуникации"', brandId: brandIds.BEELINE },
  { inn: '7812014560', name: 'ПАО "МегаФон"', brandId: brandIds.MEGAFON },
  { inn: '7743895280', name: 'ООО "Т2 Мобайл"', brandId: brandIds.TELE2 },
]

/**
 * Finds the brand of an operator by its legal name in any spelling, else by its taxpayer number (INN), which stays
 * when the name changes. `virtual` is the table of virtual operators; it has the last word.
 */
export function brandFinder(virtual: readonly Carrier[]): (operator: Operator) => number {
  const carriers = [...networks, ...virtual]
  const byName = new Map(carriers.map(carrier => [bareName(carrier.name), carrier.brandId]))
  const byInn = new Map(carriers.map(carrier => [carrier.inn, carrier.brandId]))
  return operator => byName.get(bareName(operator.name)) ?? byInn.get(operator.inn) ?? OTHER_BRAND_ID
}

const legalForms = new Set(['ООО', 'ПАО', 'ОАО', 'ЗАО', 'АО'])

/** ПАО "Вымпел-Коммуникации" is ВЫМПЕЛКОММУНИКАЦИИ. */
function bareName(name: string): string {
  const words = name.toUpperCase().split(/[^\p{L}\p{N}]+/u)
  return words.filter(word => !legalForms.has(word)).join('')
}
