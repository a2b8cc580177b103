const FEWEST = 4
const MOST = 8

/**
 * Finds the code of four to eight digits in a text: in one piece ("1234"), digit by digit ("1-2-3-4", "1, 2, 3, 4") or
 * in groups of two or three ("12-34", "123 456") with one separator. The first code in the text counts.
 */
export function spokenCode(text: string): string | undefined {
  const numbers = [...text.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ digits, index }))
  for (let at = 0; at < numbers.length; ) {
    const together = togetherFrom(numbers, at, text)
    const code = together.map(({ digits }) => digits).join('')
    if (code.length >= FEWEST && code.length <= MOST) return code
    at += Math.max(together.length - 1, 1) // the last number may begin another code with another separator
  }
}

type Numeral = { digits: string; index: number }

/** A number, and the numbers after it that belong to the same code. */
function togetherFrom(numbers: Numeral[], at: number, text: string): Numeral[] {
  const together = [numbers[at]!]
  let separator: string | undefined
  for (const next of numbers.slice(at + 1)) {
    const between = separatorOf(text, together.at(-1)!, next)
    separator ??= between
    if (between === undefined || between !== separator) break
    together.push(next)
  }
  return together
}

/** The separators of digits and of groups. 12.34 and 12,34 are more often dates and prices than codes. */
const BETWEEN_DIGITS = /^\s*[,.–—-]?\s*$/
const BETWEEN_GROUPS = /^\s*[–—-]?\s*$/
const LONGEST_BETWEEN = 3

/** The separator between two numbers of the same code, without the spaces around it. */
function separatorOf(text: string, { digits, index }: Numeral, next: Numeral): string | undefined {
  const between = text.slice(index + digits.length, next.index)
  if (between.length > LONGEST_BETWEEN) return undefined
  const areDigits = digits.length === 1 && next.digits.length === 1
  const areGroups = isGroup(digits) && isGroup(next.digits)
  const isApart = (areDigits && BETWEEN_DIGITS.test(between)) || (areGroups && BETWEEN_GROUPS.test(between))
  return isApart ? between.trim() : undefined
}

/** A longer number is a code, or another number, by itself. */
const isGroup = (digits: string) => digits.length === 2 || digits.length === 3
