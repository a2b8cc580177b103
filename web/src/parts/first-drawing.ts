import { useSyncExternalStore } from 'react'

/** A browser that does not tell of its first paint gets the whole page after this time. */
const MOST_WAIT_MS = 3000

/** After a reload or a step back the page is drawn whole at once, so that a person returns to the same place of it. */
let hasDrawn = performance.getEntriesByType('navigation').some(entry => 'type' in entry && entry.type !== 'navigate')
const listeners = new Set<() => void>()

function tellDrawn() {
  paints.disconnect()
  hasDrawn = true
  for (const listener of listeners) listener()
}

/**
 * Waits until the browser shows the first page after a load. Parts that are drawn before that compete with the browser's
 * own work for the processor, and the page appears later.
 */
const paints = new PerformanceObserver(list => {
  if (list.getEntriesByName('first-contentful-paint').length > 0) tellDrawn()
})
paints.observe({ type: 'paint', buffered: true })
setTimeout(tellDrawn, MOST_WAIT_MS)

function listen(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * False while the first page after a load is drawn for the first time, true after it. For parts that a person sees only
 * later. Pages that are opened from another page are drawn whole, for the same reason as after a reload.
 */
export const useIsDrawn = (): boolean => useSyncExternalStore(listen, () => hasDrawn)
