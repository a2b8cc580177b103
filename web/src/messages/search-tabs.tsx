import { TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import tabs from '../parts/tabs.module.css'
import { useWords } from '../words/words.ts'
import styles from './messages.module.css'
import { isSame, type SavedSearch } from './saved-searches.ts'
import { type MessageSearch, withoutOpen } from './search.ts'

type Props = { search: MessageSearch; saved: SavedSearch[]; onForget(search: SavedSearch): void }

/** Searches that everybody needs, and those that this person has saved. */
export function SearchTabs({ search, saved, onForget }: Props) {
  const { say } = useWords()
  const usual = [
    { name: say('messages.saved.all'), search: {} },
    { name: say('messages.saved.failed'), search: { status: 'undelivered,unsent' } },
    { name: say('messages.saved.waiting'), search: { status: 'sending' } },
  ]
  return (
    <nav className={tabs.tabs} aria-label={say('messages.saved')}>
      {usual.map(tab => (
        <Tab key={tab.name} tab={tab} isCurrent={isSame(tab.search, search)} />
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

function Tab({ tab, isCurrent, isSaved = false }: { tab: SavedSearch; isCurrent: boolean; isSaved?: boolean }) {
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
