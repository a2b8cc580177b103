/** The plural form of our two languages, equal to `Intl.PluralRules`. Undefined if only the browser knows it. */
export function pluralForm(locale: string, count: number): Intl.LDMLPluralRule | undefined {
  if (!Number.isInteger(count)) return undefined
  if (locale === 'en-GB') return Math.abs(count) === 1 ? 'one' : 'other'
  return locale === 'ru-RU' ? russianForm(Math.abs(count)) : undefined
}

function russianForm(count: number): Intl.LDMLPluralRule {
  const [tens, ones] = [count % 100, count % 10]
  if (ones === 1 && tens !== 11) return 'one'
  return ones >= 2 && ones <= 4 && (tens < 12 || tens > 14) ? 'few' : 'many'
}
