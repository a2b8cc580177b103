import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'

/**
 * J and K move through the list, Enter opens the page of the message, Esc closes the panel. Not while a person types.
 */
export function useListKeys(
  uuids: string[],
  openUuid: string | undefined,
  open: (uuid: string | undefined) => boolean,
) {
  const navigate = useNavigate()
  const step = (by: 1 | -1) => {
    const place = openUuid === undefined ? (by === 1 ? 0 : -1) : uuids.indexOf(openUuid) + by
    const next = uuids[place]
    if (next === undefined) return
    open(next)
    document.querySelector(`[data-uuid="${next}"]`)?.scrollIntoView({ block: 'nearest' })
  }

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isElsewhere(event, openUuid)) return
      if (event.key === 'j') step(1)
      else if (event.key === 'k') step(-1)
      else if (event.key === 'Escape' && openUuid) open(undefined)
      else if (event.key === 'Enter' && openUuid) void navigate({ to: '/messages/$uuid', params: { uuid: openUuid } })
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
  return { step }
}

/**
 * The focus is in a field, a dialog or a menu, or on an element that Enter presses. A click leaves the focus on the
 * open row.
 */
function isElsewhere({ target, key, ctrlKey, metaKey, altKey }: KeyboardEvent, openUuid: string | undefined): boolean {
  if (ctrlKey || metaKey || altKey || !(target instanceof Element)) return true
  if (target.closest('input, textarea, select, [role=dialog], [role=menu]')) return true
  return key === 'Enter' && target.closest('a, button') !== null && !target.closest(`[data-uuid="${openUuid}"]`)
}
