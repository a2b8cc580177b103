type Digits = Pick<Intl.NumberFormatOptions, 'minimumFractionDigits' | 'maximumFractionDigits'>

const marks: Record<string, { group: string; point: string }> = {
  'en-GB': { group: ',', point: '.' },
  'ru-RU': { group: '\u00a0', point: ',' },
}
const USUAL_MOST = 3

/**
 * A decimal number as our two languages write it, equal to `Intl.NumberFormat`. The first `Intl.NumberFormat` is slow
 * to create and would delay the page. Undefined if only the browser knows the format.
 */
export function decimal(locale: string, options: Intl.NumberFormatOptions, value: number): string | undefined {
  const mark = marks[locale]
  const exact = /^(\d+)(?:\.(\d+))?$/.exec(String(Math.abs(value)))
  if (!mark || !isPlain(options) || !exact) return undefined
  const { minimumFractionDigits: least = 0, maximumFractionDigits: most = Math.max(least, USUAL_MOST) } = options
  const [whole, fraction] = rounded(exact[1] ?? '0', exact[2] ?? '', most)
  const kept = fraction.slice(0, least) + fraction.slice(least).replace(/0+$/, '')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, mark.group)
  return (isBelowZero(value) ? '-' : '') + grouped + (kept && mark.point + kept)
}

/** Rounds half up by the written digits. `toFixed` would round 1.005 down. */
function rounded(whole: string, fraction: string, digits: number): [string, string] {
  const up = (fraction[digits] ?? '0') >= '5' ? 1n : 0n
  const all = String(BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0')) + up).padStart(digits + 1, '0')
  return [all.slice(0, all.length - digits), all.slice(all.length - digits)]
}

const isPlain = (options: Intl.NumberFormatOptions): options is Digits =>
  Object.keys(options).every(name => name === 'minimumFractionDigits' || name === 'maximumFractionDigits')

const isBelowZero = (value: number) => value < 0 || Object.is(value, -0)
