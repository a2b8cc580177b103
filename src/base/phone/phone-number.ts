import { type CountryCode, Metadata } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'

const SHORTEST = 5
const LONGEST = 15
/** The most characters of a written number, with spaces and signs between its digits. */
const LONGEST_WRITTEN = 64
const RUSSIAN_LENGTH = 11

const plain = /^[0-9]+$/
const decoration = /[\s()[\]\-\u2010-\u2015\u2212]/g

/**
 * Returns the digits of a written number, country code first, or undefined when the text is no number. Some digits are
 * one number with `+` and another without it. So write `+` before a normalised number if it may be normalised again.
 */
export function normaliseNumber(raw: string): string | undefined {
  if (raw.length > LONGEST_WRITTEN) return undefined // checked first, because the text may be of any length
  const digits = plain.test(raw) ? raw : undecorated(raw)
  if (digits === undefined || digits.length < SHORTEST || digits.length > LONGEST) return undefined
  if (isWithoutCountryCode(digits, raw)) return `7${digits}`
  return digits.length === RUSSIAN_LENGTH && dialledInRussia.test(digits) && !isVietnam(raw)
    ? `7${digits.slice(1)}`
    : digits
}

/**
 * Ten digits that begin with 9 are a Russian mobile number without its country code; Russian address books store it so.
 * Foreign numbers of this form (India, Pakistan, Myanmar) need a plus.
 */
const isWithoutCountryCode = (digits: string, raw: string) =>
  digits.length === RUSSIAN_LENGTH - 1 && digits[0] === '9' && !raw.includes('+')

/** Russians dial 8 instead of +7; their numbers continue with 3, 4, 8 or 9. Other numbers with 8 are Asian. */
const dialledInRussia = /^8[3489]/

/** +84 with nine digits looks like a Russian landline that is dialled with 8. The plus distinguishes them. */
const isVietnam = (raw: string) => raw.includes('+84')

function undecorated(raw: string): string | undefined {
  const bare = raw.replace(decoration, '')
  const digits = bare[0] === '+' ? bare.slice(1) : bare
  return plain.test(digits) ? digits : undefined
}

/** Russia and Kazakhstan share the code 7; 76x and 77x are Kazakhstan. */
export function isRussian(digits: string): boolean {
  return digits.length === RUSSIAN_LENGTH && digits[0] === '7' && digits[1] !== '6' && digits[1] !== '7'
}

/**
 * The country of a foreign number, as an ISO code; undefined when no country has its calling code, or its country has
 * no numbers of this length.
 *
 * The parser of the library takes 6 to 26 microseconds. This table from its metadata takes less than one.
 */
export function foreignCountryOf(digits: string): string | undefined {
  for (let codeLength = 1; codeLength <= 3; codeLength += 1) {
    const plans = plansByCallingCode.get(digits.slice(0, codeLength))
    if (plans) return countryOf(plans, digits.slice(codeLength))
  }
}

function countryOf(plans: Plan[], national: string): string | undefined {
  const plan = plans.find(({ starts }) => !starts || starts.test(national))
  return plan?.lengths.includes(national.length) ? plan.country : undefined
}

/** The numbers of one country. `starts` distinguishes countries that share a calling code. */
interface Plan {
  country: string
  lengths: number[]
  starts: RegExp | undefined
}

/** Beginnings that the library has only inside full patterns. The test compares them with the parser of the library. */
const ownStarts: Partial<Record<CountryCode, string>> = {
  CA:
    '204|226|236|249|25[07]|263|273|289|306|343|354|36[578]|382|403|41[68]|428|43[178]|450|468|474|506|51[49]|548|579|' +
    '58[147]|60[04]|613|622|633|639|647|672|683|70[59]|742|753|778|78[02]|807|819|825|867|873|879|90[25]|942',
  GG: '1481|7781|7839|7911[17]',
  JE: '1534|7509|7700[378]|7797|7829|7937',
  YT: '2689|269|639|7093[5-7]|9398[01]|9478[01]|9769',
}

/** Territories without a beginning of their own count as the country that shares their numbers. */
const countedAs: Partial<Record<CountryCode, string>> = {
  AC: 'SH',
  TA: 'SH',
  BL: 'GP',
  MF: 'GP',
  CC: 'AU',
  CX: 'AU',
  EH: 'MA',
}

const plansByCallingCode = new Map(
  Object.entries(metadata.country_calling_codes).map(([callingCode, countries]) => [callingCode, plansOf(countries)]),
)
plansByCallingCode.set('7', [{ country: 'KZ', lengths: [10], starts: /^[67]/ }])

/**
 * The main country of a calling code is first in the metadata. Here it is the last, for numbers that match no other
 * country.
 */
function plansOf([main, ...others]: CountryCode[]): Plan[] {
  const separate = others.filter(country => !countedAs[country])
  return [...separate.map(country => planOf(country, startsOf(country))), planOf(main!, undefined)]
}

function planOf(country: CountryCode, starts: RegExp | undefined): Plan {
  return { country: countedAs[country] ?? country, lengths: numberingPlanOf(country).possibleLengths(), starts }
}

function startsOf(country: CountryCode): RegExp {
  return new RegExp(`^(?:${ownStarts[country] ?? numberingPlanOf(country).leadingDigits()})`)
}

function numberingPlanOf(country: CountryCode) {
  const library = new Metadata()
  library.selectNumberingPlan(country)
  return library.numberingPlan!
}
