import { useFormats } from '../format.ts'

/** The sign of a currency, for the heads of columns. */
export const useSign = (currency: string) => useFormats().sign(currency)

/** An amount with kopecks and without its sign: for columns whose head has it. */
export function useAmount() {
  const { money } = useFormats()
  return (value: number) => money(value, 'RUB').split('\u00a0').slice(0, -1).join('\u00a0')
}
