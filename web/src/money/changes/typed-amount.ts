/**
 * Converts a typed amount, `1 500,50` or `1,500.50`, to the format of the server. Returns undefined for an invalid
 * amount.
 */
export function amountIn(text: string): string | undefined {
  const bare = text.replace(/[\s\u00a0\u202f]/g, '')
  const plain = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare.replace(',', '.')
  return /^\d{1,12}(\.\d{1,4})?$/.test(plain) ? plain : undefined
}

/** The server accepts no larger amount in one entry. */
export const MOST_AT_ONCE = 100_000_000

export function problemOfAmount(typed: string | undefined) {
  if (typed === undefined || Number(typed) === 0) return 'money.problem.amount' as const
  return Number(typed) > MOST_AT_ONCE ? ('money.problem.tooLarge' as const) : undefined
}
