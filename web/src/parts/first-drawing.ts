import { useDeferredValue, useEffect } from 'react'

let hasDrawn = false

/**
 * False while the first page after a load is drawn for the first time, true right after it. For parts that a person sees
 * only later. Pages that are opened from another page are drawn whole, so that a person returns to the same place of them.
 */
export function useIsDrawn(): boolean {
  const isDrawn = useDeferredValue(true, hasDrawn)
  useEffect(() => {
    hasDrawn = true
  }, [])
  return isDrawn
}
