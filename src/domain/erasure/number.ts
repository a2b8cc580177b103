/** Stands in a text in place of an erased number. */
export const MASK = '[erased]'

/** Shorter numbers cannot be told apart from other digits in texts, such as dates. */
export const FEWEST_DIGITS = 10

const RUSSIAN = /^7\d{10}$/

/** Signs that people write between the digits of a number, and the space of an address of a web page. */
const BETWEEN = '(?:%20|[\\s\u00a0\u2007\u2009\u202f\u2010-\u2015\u2212().\\[\\]/-])*'

const spaced = (digits: string) => [...digits].join(BETWEEN)

/**
 * A regular expression for PostgreSQL and JavaScript that finds a number in a text, in all usual spellings. A Russian number is also
 * written with 8, or without its country code; in that form it may not touch other letters of a hexadecimal number, such
 * as a UUID.
 */
export function patternOf(digits: string): string {
  const withPrefix = (number: string) => `(?<![0-9])(?:(?:00|810)${BETWEEN})?${number}(?![0-9])`
  if (!RUSSIAN.test(digits)) return withPrefix(spaced(digits))
  const national = spaced(digits.slice(1))
  return `${withPrefix(`[78]${BETWEEN}${national}`)}|(?<![0-9a-fA-F])${national}(?![0-9a-fA-F])`
}

/** A number that is a value of JSON by itself, without quotes: the mask would break the JSON. */
export const jsonNumberOf = (digits: string): string =>
  `([:[,]\\s*)(?:${[digits, ...(RUSSIAN.test(digits) ? [`8${digits.slice(1)}`, digits.slice(1)] : [])].join('|')})(?=\\s*[],}])`
