/** The country codes of the world. The pattern lists the codes of one and two digits; all other codes have three. */
const COUNTRY = /^(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/

export const lastTwo = (digits: string) => digits.slice(-2)

/**
 * The country code and the last two digits: `+7 ••• ••• •• 67`. It hides the last four digits, because a visitor could
 * mistake them for the digits of a flash call.
 */
export function masked(digits: string): string {
  const country = COUNTRY.exec(digits)?.[0] ?? ''
  const hidden = '•'.repeat(Math.max(0, digits.length - country.length - 2))
  return [`+${country}`, ...(hidden.match(/.{1,3}/g) ?? []), lastTwo(digits)].join('\u00a0')
}
