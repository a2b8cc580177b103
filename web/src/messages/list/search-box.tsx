import { useEffect, useState } from 'react'
import { Icon } from '../../parts/content/icon.tsx'
import { useWords } from '../../words/words.ts'
import styles from './messages.module.css'

type Props = { value: string; onSearch(typed: string): void }

const WAIT_MS = 350

/** The search field. It searches when the person stops typing, or presses Enter. */
export function SearchBox({ value, onSearch }: Props) {
  const { say } = useWords()
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => onSearch(typed), WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed, value, onSearch])
  return (
    <search>
      <form
        onSubmit={event => {
          event.preventDefault()
          onSearch(typed)
        }}
      >
        <div className={styles.box}>
          <Icon name="search" />
          <input
            type="search"
            value={typed}
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            aria-label={say('messages.box')}
            placeholder={say('messages.box')}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {typed !== '' && (
            <button
              type="button"
              aria-label={say('messages.clear')}
              onClick={() => {
                setTyped('')
                onSearch('')
              }}
            >
              <Icon name="cross" />
            </button>
          )}
        </div>
        <p className={styles.help}>{say('messages.help')}</p>
      </form>
    </search>
  )
}
