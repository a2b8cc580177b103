import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import tabs from '../../parts/pages/tabs.module.css'
import { useWords } from '../../words/words.ts'
import { countsQuery, useChosenCompany } from '../messages.ts'
import { type MessageSearch, withoutOpen } from '../search.ts'
import styles from './messages.module.css'
import { isSame, type SavedSearch } from './saved-searches.ts'

type Props = { search: MessageSearch; saved: SavedSearch[]; onForget(search: SavedSearch): void }
type UsualTab = SavedSearch & { counted: 'all' | 'failed' | 'waiting' }

/** Frequent searches, and the saved searches of this person. */
export function SearchTabs({ search, saved, onForget }: Props) {
  const { say } = useWords()
  const countOf = useCounts()
  const usual: UsualTab[] = [
    { name: say('messages.saved.all'), search: {}, counted: 'all' },
    { name: say('messages.saved.failed'), search: { status: 'undelivered,unsent' }, counted: 'failed' },
    { name: say('messages.saved.waiting'), search: { status: 'sending' }, counted: 'waiting' },
  ]
  return (
    <nav className={tabs.tabs} aria-label={say('messages.saved')}>
      {usual.map(tab => (
        <Tab key={tab.name} tab={tab} isCurrent={isSame(tab.search, search)} count={countOf(tab.counted)} />
      ))}
      {saved.map(tab => (
        <span key={tab.name} className={styles.saved}>
          <Tab tab={tab} isCurrent={isSame(tab.search, search)} isSaved />
          {isSame(tab.search, search) && (
            <button type="button" onClick={() => onForget(tab)} aria-label={say('messages.forget', { name: tab.name })}>
              <Icon name="cross" size={12} />
            </button>
          )}
        </span>
      ))}
    </nav>
  )
}

/** `5,000+` if the server stopped counting. Nothing if the count is unknown. */
function useCounts() {
  const { number } = useFormats()
  const { data } = useQuery(countsQuery(useChosenCompany()))
  return (counted: UsualTab['counted']) => {
    const count = data?.counts?.[counted] ?? 0
    return count === 0 ? undefined : `${number(count)}${data?.counts?.isLeast ? '+' : ''}`
  }
}

type TabProps = { tab: SavedSearch; isCurrent: boolean; count?: string | undefined; isSaved?: boolean }

function Tab({ tab, isCurrent, count, isSaved = false }: TabProps) {
  return (
    <Link
      to="/messages"
      search={withoutOpen(tab.search)}
      activeOptions={{ exact: true }}
      className={tabs.tab}
      {...(isCurrent ? { 'aria-current': 'page' as const } : { 'aria-current': undefined })}
    >
      {isSaved && <Icon name="star" size={14} />}
      {tab.name}
      {count && <span className={tabs.count}>{count}</span>}
    </Link>
  )
}

export function SaveDialog({ onSave, onClose }: { onSave(name: string): void; onClose(): void }) {
  const { say } = useWords()
  const [name, setName] = useState('')
  const [isEmpty, setIsEmpty] = useState(false)
  const submit = () => {
    if (name.trim() === '') return setIsEmpty(true)
    onSave(name.trim())
    onClose()
  }
  return (
    <Dialog
      title={say('messages.save.title')}
      text={say('messages.save.text')}
      submit={say('messages.save.submit')}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={say('messages.save.name')}
        autoComplete="off"
        maxLength={40}
        data-autofocus
        error={isEmpty && say('messages.save.noName')}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
    </Dialog>
  )
}
