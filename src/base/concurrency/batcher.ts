/**
 * Collects the keys that callers request in one turn of the event loop, and loads them with one call of `loadAll`.
 * `loadAll` returns the values in the order of the keys. The call starts after the turn has ended, and a later request
 * never joins it, so that no value is older than its request. A batch has at most `mostKeys` keys.
 */
export function createBatcher<Key, Value>(
  loadAll: (keys: Key[]) => Promise<Value[]>,
  mostKeys = Number.POSITIVE_INFINITY,
): (key: Key) => Promise<Value> {
  let open: { keys: Key[]; values: Promise<Value[]> } | undefined

  function openBatch() {
    const keys: Key[] = []
    return { keys, values: endOfTurn().then(() => close(keys)) }
  }

  function close(keys: Key[]): Promise<Value[]> {
    if (open?.keys === keys) open = undefined
    return loadAll(keys)
  }

  return async key => {
    if (!open || open.keys.length >= mostKeys) open = openBatch()
    const { keys, values } = open
    const place = keys.push(key) - 1
    return (await values)[place] as Value
  }
}

/** Loads with `createBatcher` by a text. `loadAll` gets each text once and returns only the values that exist. */
export function createFinder<Value>(
  loadAll: (keys: string[]) => Promise<Map<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  return createBatcher(async (keys: string[]) => {
    const found = await loadAll([...new Set(keys)])
    return keys.map(key => found.get(key))
  })
}

const endOfTurn = () => new Promise<void>(resolve => setImmediate(resolve))
