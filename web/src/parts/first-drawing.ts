import { useDeferredValue } from 'react'

/** False while a component is drawn for the first time, true right after it. For parts that a person sees only later. */
export const useIsDrawn = (): boolean => useDeferredValue(true, false)
