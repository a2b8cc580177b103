const COMPARED_DIGITS = 9
/** With fewer, an address is no telephone number: a name, a short number, nothing. */
const LEAST_DIGITS = 7

/** An address as far as it can be compared: its last digits. Operators put "+", "8" or nothing in front of them. */
export function comparableNumber(address: string | undefined): string | undefined {
  const digits = (address ?? '').replace(/\D/g, '')
  return digits.length >= LEAST_DIGITS ? digits.slice(-COMPARED_DIGITS) : undefined
}

export function isSameNumber(a: string | undefined, b: string | undefined): boolean {
  const number = comparableNumber(a)
  return number !== undefined && number === comparableNumber(b)
}
