/** The weights of the digits before a check digit; the last weight belongs to the last of these digits. */
const WEIGHTS = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]

/** Whether a text is the tax number of a Russian company (10 digits) or person (12 digits), by its check digits. */
export function isInn(text: string): boolean {
  if (/^\d{10}$/.test(text)) return hasCheckDigit(text)
  return /^\d{12}$/.test(text) && hasCheckDigit(text.slice(0, 11)) && hasCheckDigit(text)
}

function hasCheckDigit(digits: string): boolean {
  const weights = WEIGHTS.slice(-(digits.length - 1))
  const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0)
  return (sum % 11) % 10 === Number(digits.at(-1))
}
