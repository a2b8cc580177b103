/** Fields of PostgreSQL's errors with values of the row that it refused, such as texts and numbers. */
const WITH_ROWS = ['detail', 'where', 'query', 'internal_query', 'parameters', 'args']
/** Errors without rows, whose fields help: deadlocks, no resources, locks and a server that ends. */
const WITHOUT_ROWS = /^(40|53|55|57)/

/** The names of the fields of an error that may contain a refused row. */
export function rowFieldsOf(error: object): string[] {
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && WITHOUT_ROWS.test(code)) return []
  return Object.keys(error).filter(name => WITH_ROWS.includes(name))
}
