import { useSyncExternalStore } from 'react'

let hasDrawn = false
const listeners = new Set<() => void>()

/**
 * Waits until the browser shows the first page after a load. What is drawn before that competes with the browser's own
 * work for the processor, and the page appears later.
 */
const paints = new PerformanceObserver(() => {
  paints.disconnect()
  hasDrawn = true
  for (const listener of listeners) listener()
})
paints.observe({ type: 'paint', buffered: true })

function listen(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * False while the first page after a load is drawn for the first time, true after it. For parts that a person sees only
 * later. Pages that are opened from another page are drawn whole, so that a person returns to the same place of them.
 */
export const useIsDrawn = (): boolean => useSyncExternalStore(listen, () => hasDrawn)
