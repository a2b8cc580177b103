import { Icon } from '../../parts/content/icon.tsx'
import { useTypedSearch } from '../../parts/lists/typed-search.ts'
import { useWords } from '../../words/words.ts'
import styles from './messages.module.css'

type Props = { value: string; onSearch(typed: string): void }

/** The search field. It searches when the person stops typing, or presses Enter. */
export function SearchBox({ value, onSearch }: Props) {
  const { say } = useWords()
  const { typed, setTyped, search } = useTypedSearch(value, onSearch)
  return (
    <search>
      <form
        onSubmit={event => {
          event.preventDefault()
          search()
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
                search('')
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
