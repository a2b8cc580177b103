import { CloseButton, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../content/icon.tsx'

type Props = { label: string; clear: string; value: string; maxLength?: number; onSearch(typed: string): void }

const WAIT_MS = 350

/** A search field above a list. It searches when the person stops typing, or presses Enter. */
export function SearchField({ label, clear, value, maxLength = 100, onSearch }: Props) {
  const [typed, setTyped] = useState(value)
  const search = useRef(onSearch)
  search.current = onSearch
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => search.current(typed.trim()), WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed, value])
  return (
    <search>
      <form
        onSubmit={event => {
          event.preventDefault()
          onSearch(typed.trim())
        }}
      >
        <TextInput
          aria-label={label}
          placeholder={label}
          leftSection={<Icon name="search" />}
          rightSection={typed !== '' && <CloseButton size="sm" aria-label={clear} onClick={() => setTyped('')} />}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={maxLength}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
    </search>
  )
}
