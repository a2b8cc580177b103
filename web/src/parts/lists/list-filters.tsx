import { Button, NativeSelect, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import { Blank } from '../pages/blank.tsx'
import styles from './list-filters.module.css'
import { type ListSearch, MOST_CHARACTERS } from './list-search.ts'
import { useTypedSearch } from './typed-search.ts'

type Props<State extends string> = {
  search: ListSearch<State>
  words: string
  stateLabel: string
  /** States with their names. */
  states: [State, string][]
}

/** A search field and a choice of states. Every change shows the first page. */
export function ListFilters<State extends string>({ search, words, stateLabel, states }: Props<State>) {
  const { say } = useWords()
  const navigate = useNavigate()
  const show = (change: ListSearch<State>) =>
    void navigate({ to: '.', search: { ...search, page: undefined, ...change } as never, replace: true })
  return (
    <search className={styles.filters}>
      <SearchBox label={words} value={search.search ?? ''} onChange={text => show({ search: text || undefined })} />
      <NativeSelect
        aria-label={stateLabel}
        value={search.state ?? ''}
        onChange={({ currentTarget }) => show({ state: states.find(([state]) => state === currentTarget.value)?.[0] })}
        data={[{ value: '', label: say('review.state.all') }, ...states.map(([value, label]) => ({ value, label }))]}
      />
    </search>
  )
}

/** The address changes when the person stops typing. */
function SearchBox({ label, value, onChange }: { label: string; value: string; onChange(text: string): void }) {
  const { typed, setTyped } = useTypedSearch(value, onChange)
  return (
    <TextInput
      type="search"
      className={styles.search}
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" />}
      maxLength={MOST_CHARACTERS}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  )
}

type Pages = { page: number; perPage: number; total: number }

export function ListPages({ search, page, perPage, total }: Pages & { search: ListSearch<string> }) {
  const { say } = useWords()
  const pages = Math.ceil(total / perPage)
  if (pages <= 1) return null
  const link = (to: number) => ({
    renderRoot: (props: object) => <Link {...props} to="." search={{ ...search, page: to } as never} />,
  })
  return (
    <nav className={styles.pages} aria-label={say('app.pages')}>
      {page > 1 && (
        <Button leftSection={<Icon name="back" />} {...link(page - 1)}>
          {say('list.previous')}
        </Button>
      )}
      <span className="note">{say('list.page', { page, pages })}</span>
      {page < pages && (
        <Button rightSection={<Icon name="right" />} {...link(page + 1)}>
          {say('list.next')}
        </Button>
      )}
    </nav>
  )
}

/** Replaces a list that is empty because of its filters. */
export function NothingFits() {
  const { say } = useWords()
  return (
    <Blank drawing="lost" title={say('list.nothing.title')} text={say('list.nothing.text')}>
      <Button renderRoot={props => <Link {...props} to="." search={() => ({})} />}>{say('list.nothing.reset')}</Button>
    </Blank>
  )
}
