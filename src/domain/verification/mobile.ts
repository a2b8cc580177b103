import { parsePhoneNumberFromString } from 'libphonenumber-js/mobile'
import type { Classified } from '../numbering/numbering.ts'

type Known = Exclude<Classified, { kind: 'refused' }>

/** Where a number is from, as an ISO code. */
export const countryOf = (number: Known): string => (number.kind === 'russian' ? 'RU' : number.country)

/**
 * Whether a number can be a mobile one. Codes to other numbers are refused before they cost: premium and landline numbers
 * are what SMS pumping lives on. Russian mobile numbers begin with 79.
 */
export function canBeMobile(number: Known): boolean {
  if (number.kind === 'russian') return number.digits.startsWith('79')
  return parsePhoneNumberFromString(`+${number.digits}`)?.isValid() ?? false
}

/** The last digits of a number that do not belong to its prefix: a block of so many numbers is judged together. */
const OWN_DIGITS = 4

export const prefixOf = ({ digits }: Known): string => digits.slice(0, -OWN_DIGITS)
