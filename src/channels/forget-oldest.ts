/** Removes the entry of a map that was added first. */
export function forgetOldest(map: Map<string, unknown>) {
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
