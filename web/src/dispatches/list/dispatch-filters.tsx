import { NativeSelect, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { channelTypes } from '../../../../src/base/channel-types.ts'
import { dispatchStatuses } from '../../../../src/domain/dispatches/dispatch.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { useTypedSearch } from '../../parts/lists/typed-search.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import { type Listed, type ListSearch, periods } from '../dispatches.ts'
import styles from './dispatches.module.css'

type Counts = Partial<Record<Listed['status'], number>> | null

/** Every filter shows the first page again. */
const firstPage = { olderThan: undefined, newerThan: undefined }

export function StatusTabs({ search, counts }: { search: ListSearch; counts: Counts }) {
  const { say } = useWords()
  const { number } = useFormats()
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0)
  const tab = (status: Listed['status'] | undefined, name: string, count: number | null) => (
    <Link
      key={name}
      to="/dispatches"
      search={{ ...search, ...firstPage, status }}
      aria-current={search.status === status ? 'page' : undefined}
      activeProps={{}}
    >
      {name} {count !== null && <span>{number(count)}</span>}
    </Link>
  )
  return (
    <nav className={styles.tabs} aria-label={say('dispatches.statuses')}>
      {tab(undefined, say('dispatches.all'), total)}
      {dispatchStatuses.map(status => tab(status, say(`dispatches.status.${status}`), counts && (counts[status] ?? 0)))}
    </nav>
  )
}

export function DispatchFilters({ search }: { search: ListSearch }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const navigate = useNavigate()
  const show = (change: ListSearch) =>
    void navigate({ to: '/dispatches', search: { ...search, ...firstPage, ...change }, replace: true })
  return (
    <search className={styles.filters}>
      <SearchBox value={search.search ?? ''} onChange={text => show({ search: text || undefined })} />
      <NativeSelect
        aria-label={say('dispatches.channel')}
        value={search.channel ?? ''}
        onChange={({ currentTarget: { value } }) => show({ channel: channelTypes.find(one => one === value) })}
        data={[
          { value: '', label: say('dispatches.anyChannel') },
          ...channelTypes.map(value => ({ value, label: channel(value) })),
        ]}
      />
      <NativeSelect
        aria-label={say('dispatches.period')}
        value={search.period ?? ''}
        onChange={({ currentTarget: { value } }) => show({ period: periods.find(one => one === value) })}
        data={[
          { value: '', label: say('dispatches.period.any') },
          ...periods.map(value => ({ value, label: say(`dispatches.period.${value}`) })),
        ]}
      />
    </search>
  )
}

/** The address changes when the person stops typing. */
function SearchBox({ value, onChange }: { value: string; onChange(text: string): void }) {
  const { say } = useWords()
  const { typed, setTyped } = useTypedSearch(value, onChange)
  return (
    <TextInput
      type="search"
      className={styles.search}
      aria-label={say('dispatches.search')}
      placeholder={say('dispatches.search')}
      leftSection={<Icon name="search" />}
      maxLength={100}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  )
}
