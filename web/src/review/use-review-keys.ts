import { useEffect } from 'react'

/** Keys by their position, because a Russian layout has other letters on them. */
const keys: Record<string, ReviewAct> = {
  KeyA: 'approve',
  KeyR: 'reject',
  KeyD: 'deny',
  KeyJ: 'next',
  KeyK: 'previous',
}

export type ReviewAct = 'approve' | 'reject' | 'deny' | 'next' | 'previous' | 'help'

/**
 * A, R and D decide, J and K move through the queue, ? shows the keys. Not while a person types or a dialog is open.
 */
export function useReviewKeys(act: (what: ReviewAct) => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isElsewhere(event)) return
      const what = event.key === '?' ? 'help' : event.shiftKey ? undefined : keys[event.code]
      if (!what) return
      event.preventDefault()
      act(what)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}

function isElsewhere({ target, ctrlKey, metaKey, altKey, repeat }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || repeat || !(target instanceof Element)) return true
  return target.closest('input, textarea, select, [role=dialog], [role=menu]') !== null
}
