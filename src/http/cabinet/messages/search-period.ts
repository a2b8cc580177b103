import { invalid } from '../../../base/errors.ts'

/** The times between which a search looks. */
export function searchPeriod(query: { from?: string; to?: string }): { from: Date | undefined; to: Date | undefined } {
  const from = query.from === undefined ? undefined : new Date(query.from)
  const to = query.to === undefined ? undefined : new Date(query.to)
  if (from && to && from > to) throw invalid('from: must not be later than to')
  return { from, to }
}
