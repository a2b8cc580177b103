import { CloseButton, TextInput } from '@mantine/core'
import { Icon } from '../content/icon.tsx'
import { useTypedSearch } from './typed-search.ts'

type Props = { label: string; clear: string; value: string; maxLength?: number; onSearch(typed: string): void }

/** A search field above a list. It searches when the person stops typing, or presses Enter. */
export function SearchField({ label, clear, value, maxLength = 100, onSearch }: Props) {
  const { typed, setTyped, search } = useTypedSearch(value, onSearch)
  return (
    <search>
      <form
        onSubmit={event => {
          event.preventDefault()
          search()
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
