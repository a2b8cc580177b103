import { useFormats } from '../format.ts'

/** The currency sign, for column heads. */
export const useSign = (currency: string) => useFormats().sign(currency)

/** An amount with kopecks and without the currency sign, for columns whose head has the sign. */
export function useAmount() {
  const { money } = useFormats()
  return (value: number) => money(value, 'RUB').split('\u00a0').slice(0, -1).join('\u00a0')
}
