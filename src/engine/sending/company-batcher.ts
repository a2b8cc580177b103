import { createBatcher } from '../../base/concurrency/batcher.ts'

/**
 * Joins what callers request for the same company in one turn of the event loop into one call of `loadAll`, which returns
 * the values in the order of the keys. Small chunks of several lanes of a company so share their statements.
 */
export function batchByCompany<Key extends { companyId: number }, Value>(
  loadAll: (companyId: number, keys: Key[]) => Promise<Value[]>,
): (key: Key) => Promise<Value> {
  const open = new Map<number, (key: Key) => Promise<Value>>()

  function openBatch(companyId: number) {
    const load = createBatcher((keys: Key[]) => {
      open.delete(companyId)
      return loadAll(companyId, keys)
    })
    open.set(companyId, load)
    return load
  }

  return key => (open.get(key.companyId) ?? openBatch(key.companyId))(key)
}
