const COMPARED_DIGITS = 9
/** An address with fewer digits is no telephone number, but a name or a short number. */
const LEAST_DIGITS = 7

/** The last digits of an address, for comparisons. Operators write "+", "8" or nothing before them. */
export function comparableNumber(address: string | undefined): string | undefined {
  const digits = (address ?? '').replace(/\D/g, '')
  return digits.length >= LEAST_DIGITS ? digits.slice(-COMPARED_DIGITS) : undefined
}

export function isSameNumber(a: string | undefined, b: string | undefined): boolean {
  const number = comparableNumber(a)
  return number !== undefined && number === comparableNumber(b)
}
