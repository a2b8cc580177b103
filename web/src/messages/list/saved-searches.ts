import { useState } from 'react'
import { useMe } from '../../session.ts'
import { type MessageSearch, readSearch } from '../search.ts'

export type SavedSearch = { name: string; search: MessageSearch }

const MOST_SAVED = 20
const MOST_NAME = 40

/** The saved searches of this person in this browser. */
export function useSavedSearches() {
  const place = `tidings-searches-${useMe().personId}`
  const [saved, setSaved] = useState(() => readSaved(localStorage.getItem(place)))
  const keep = (searches: SavedSearch[]) => {
    localStorage.setItem(place, JSON.stringify(searches))
    setSaved(searches)
  }
  return {
    saved,
    isFull: saved.length >= MOST_SAVED,
    save: (name: string, search: MessageSearch) => keep([...saved, { name: name.slice(0, MOST_NAME), search }]),
    forget: (forgotten: SavedSearch) => keep(saved.filter(search => search !== forgotten)),
  }
}

/** An older version of the page may have stored another format. */
function readSaved(text: string | null): SavedSearch[] {
  try {
    const saved: { name: unknown; search: unknown }[] = JSON.parse(text ?? '[]')
    return saved
      .map(({ name, search }) => ({ name: String(name), search: readSearch(Object(search)) }))
      .slice(0, MOST_SAVED)
  } catch {
    return []
  }
}

/** Whether the address contains exactly this search. */
export const isSame = (a: MessageSearch, b: MessageSearch) => textOf(a) === textOf(b)

const textOf = (search: MessageSearch) =>
  JSON.stringify(
    Object.entries({ ...search, open: undefined })
      .filter(([, value]) => value !== undefined)
      .sort(),
  )
