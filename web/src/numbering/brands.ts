import { brandNames } from '../parts/names/operator-names.ts'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'

export const brandIds = [1, 2, 3, 4, 0] as const

/** The translated name of a brand. 0 is none of the four brands. */
export function useBrand() {
  const { say } = useWords()
  const names = useTrafficNames()
  return (brandId: number) => {
    const brand = brandNames[brandId - 1]
    return brand ? names.operator(brand) : say('numbering.noBrand')
  }
}

/** `+7 916 000-00-01`, with no-break spaces and hyphens. */
export const grouped = (number: number) =>
  String(number).replace(/^(\d)(\d{3})(\d{3})(\d\d)(\d\d)$/, '+$1\u00a0$2\u00a0$3\u2011$4\u2011$5')
