import { useEffect, useEffectEvent, useState } from 'react'

const WAIT_MS = 350

/**
 * The text of a search field whose search is in the address (`value`). It searches when the person stops typing. When
 * something else changes the search, such as a link or Back, the field shows the new text.
 */
export function useTypedSearch(value: string, onSearch: (text: string) => void) {
  const [typed, setTyped] = useState(value)
  const [shown, setShown] = useState(value)
  const [asked, setAsked] = useState(value)
  if (value !== shown) {
    // While rendering, not in an effect: on a slow device the timer of the former text could bring its search back.
    setShown(value)
    setAsked(value)
    if (value !== asked) setTyped(value) // after its own search the field keeps what the person typed meanwhile
  }
  const text = typed.trim()
  const search = (wanted = text) => {
    setAsked(wanted)
    onSearch(wanted)
  }
  const searchLater = useEffectEvent(() => search())
  useEffect(() => {
    if (text === value || text === asked) return
    const timer = setTimeout(searchLater, WAIT_MS)
    return () => clearTimeout(timer)
  }, [text, value, asked])
  return { typed, setTyped, search }
}
