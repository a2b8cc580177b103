import { NativeSelect, TextInput, UnstyledButton } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { Icon } from '../parts/content/icon.tsx'
import { DayFilter } from '../parts/lists/day-filter.tsx'
import row from '../parts/lists/filter-row.module.css'
import { oneOf } from '../search-values.ts'
import { useWords } from '../words/words.ts'
import styles from './audit.module.css'
import { type AuditAction, useFilter } from './audit.ts'
import { changesByKind } from './changes-by-kind.ts'

/** All filters are in the URL, so that a person can send a filtered list to a colleague. */
export function AuditFilters({ whats }: { whats: readonly AuditAction[] }) {
  const { say } = useWords()
  const { filter, change } = useFilter()
  const { what, from, to, subject } = filter
  return (
    <div className={`${row.filters} ${styles.filters}`}>
      <NativeSelect
        aria-label={say('audit.filter.what')}
        value={what ?? ''}
        onChange={({ currentTarget }) => change({ what: oneOf(whats, currentTarget.value) })}
      >
        <option value="">{say('audit.filter.anything')}</option>
        {changesByKind(whats).map(([kind, ofKind]) => (
          <optgroup key={kind} label={say(`audit.kind.${kind}`)}>
            {ofKind.map(one => (
              <option key={one} value={one}>
                {say(`audit.what.${one}`)}
              </option>
            ))}
          </optgroup>
        ))}
      </NativeSelect>
      <PersonFilter />
      <DayFilter label={say('audit.filter.from')} value={from} max={to} onChange={day => change({ from: day })} />
      <DayFilter label={say('audit.filter.to')} value={to} min={from} onChange={day => change({ to: day })} />
      {subject !== undefined && (
        <UnstyledButton className={styles.chip} onClick={() => change({ subject: undefined })}>
          {say('audit.filter.subject', { subject: subject.replace(':', ' ') })}
          <Icon name="cross" size={14} />
        </UnstyledButton>
      )}
    </div>
  )
}

/** Searches when the person leaves the field or presses Enter, because a part of a login finds nothing. */
function PersonFilter() {
  const { say } = useWords()
  const { filter, change } = useFilter()
  const [login, setLogin] = useState(filter.person ?? '')
  useEffect(() => setLogin(filter.person ?? ''), [filter.person])
  const find = (event?: FormEvent) => {
    event?.preventDefault()
    change({ person: login.trim() || undefined })
  }
  return (
    <form onSubmit={find}>
      <TextInput
        aria-label={say('audit.filter.person')}
        placeholder={say('audit.filter.person')}
        leftSection={<Icon name="search" />}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={255}
        value={login}
        onChange={({ currentTarget }) => setLogin(currentTarget.value)}
        onBlur={() => find()}
      />
    </form>
  )
}
