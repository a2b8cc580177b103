import { type CountryCode, Metadata } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'
import { foreignCountryOf, isRussian } from '../../base/phone/phone-number.ts'

/** The ISO code of the country of a stored number. Undefined if the destination is no valid number. */
export function countryOf(destination: string): string | undefined {
  if (!/^[0-9]+$/.test(destination)) return undefined
  return isRussian(destination) ? 'RU' : foreignCountryOf(destination)
}

const NO_NUMBER = '^$'
const patterns = new Map<string, string>([['RU', '^7[0-589][0-9]{9}$']])

/** A regular expression for the numbers of a country. PostgreSQL needs it, because messages do not store their country. */
export function numberPatternOf(country: string): string {
  const known = patterns.get(country)
  if (known) return known
  const pattern = makePattern(country)
  patterns.set(country, pattern)
  return pattern
}

function makePattern(country: string): string {
  const branches = Object.entries(metadata.country_calling_codes).flatMap(([callingCode, sharing]) => {
    if (sharing.length === 1) return wholeOf(callingCode, country)
    return sharing.includes(country as CountryCode) ? partOf(callingCode, country as CountryCode) : []
  })
  return branches.length > 0 ? `^(?:${branches.join('|')})$` : NO_NUMBER
}

const MOST_DIGITS = 15

/** The pattern for a calling code that only one country has. */
function wholeOf(callingCode: string, country: string): string[] {
  const lengths = Array.from({ length: MOST_DIGITS }, (_, i) => i + 1)
  const fitting = lengths.filter(length => countryOf(callingCode + '0'.repeat(length)) === country)
  return fitting.length > 0 ? [`${callingCode}${digitsOf(fitting)}`] : []
}

/** The most digits after a shared calling code that decide the country. Guernsey needs five: 7911[17]. */
const TELLING_DIGITS = 5

function partOf(callingCode: string, country: CountryCode): string[] {
  const plan = new Metadata()
  plan.selectNumberingPlan(country)
  const lengths = plan.numberingPlan!.possibleLengths()
  let sample = ''
  const isOurs = (start: string) => {
    const found = countryOf(callingCode + start.padEnd(lengths[0]!, '0')) === country
    if (found) sample = start
    return found
  }
  const starts = startsOf('', Math.min(TELLING_DIGITS, lengths[0]!), isOurs)
  const fitting = lengths.filter(length => countryOf(callingCode + sample.padEnd(length, '0')) === country)
  return starts === undefined ? [] : [`${callingCode}(?=${starts})${digitsOf(fitting)}`]
}

const digitsOf = (lengths: number[]) => `(?:${lengths.map(length => `[0-9]{${length}}`).join('|')})`

/**
 * A pattern of the beginnings that belong to a country. It tries every beginning with `countryOf`, so the pattern always
 * agrees with it. Equal branches are merged. It takes about 50 ms, once for each country that shares its calling code.
 */
function startsOf(start: string, more: number, isOurs: (start: string) => boolean): string | undefined {
  if (more === 0) return isOurs(start) ? '' : undefined
  const digitsBy = new Map<string | undefined, string>()
  for (const digit of '0123456789') {
    const rest = startsOf(start + digit, more - 1, isOurs)
    digitsBy.set(rest, (digitsBy.get(rest) ?? '') + digit)
  }
  if (digitsBy.size === 1) return digitsBy.keys().next().value
  const branches = [...digitsBy].filter(([rest]) => rest !== undefined).map(([rest, digits]) => `[${digits}]${rest}`)
  return `(?:${branches.join('|')})`
}
