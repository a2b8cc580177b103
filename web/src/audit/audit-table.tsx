import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { deviceOf } from '../account/device.ts'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import table from '../parts/lists/table.module.css'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './audit.module.css'
import { type Entry, useFilter } from './audit.ts'
import { fieldNames, useValues } from './values.ts'

export function AuditTable({ entries }: { entries: Entry[] }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.table}`}>
      <thead>
        <tr>
          <th>{say('audit.when')}</th>
          <th>{say('audit.who')}</th>
          <th>{say('audit.change')}</th>
          <th>{say('audit.before')}</th>
          <th>{say('audit.after')}</th>
          <th className={table.actions} aria-label={say('audit.details')} />
        </tr>
      </thead>
      <tbody>
        {entries.map(entry => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  )
}

const SHOWN = 3

function EntryRow({ entry }: { entry: Entry }) {
  const { say } = useWords()
  const { date, time } = useFormats()
  const [isOpen, setIsOpen] = useState(false)
  const all = fieldNames(entry)
  const names = isOpen ? all : all.slice(0, SHOWN)
  const { at, before, after, what } = entry
  return (
    <tr>
      <td className={styles.when} data-label={say('audit.when')}>
        <time dateTime={at}>
          {date(at)} <span className={table.sub}>{time(at)}</span>
        </time>
      </td>
      <td className={styles.who} data-label={say('audit.who')}>
        <Who who={entry.who} isOpen={isOpen} />
      </td>
      <td className={table.title}>
        <span className={table.main}>{say(`audit.what.${what}`)}</span>
        <Subject entry={entry} />
        {!isOpen && all.length > SHOWN && (
          <span className={table.sub}>{say('audit.more', { count: all.length - SHOWN })}</span>
        )}
      </td>
      <Values label={say('audit.before')} names={before ? names : []} fields={before} />
      <Values label={say('audit.after')} names={after ? names : []} fields={after} />
      <td className={table.actions}>
        <UnstyledButton
          className={table.open}
          aria-expanded={isOpen}
          aria-label={say('audit.detailsOf', { what: say(`audit.what.${what}`) })}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name="turn" />
        </UnstyledButton>
      </td>
    </tr>
  )
}

function Who({ who, isOpen }: { who: Entry['who']; isOpen: boolean }) {
  const { say } = useWords()
  const { change } = useFilter()
  const { login, kind, address, agent, requestId } = who
  if (login === null) return <span className={table.main}>{say('audit.staff')}</span>
  const { browser, system } = deviceOf(agent ?? '')
  const device = browser && system ? say('account.sessions.device', { browser, system }) : (browser ?? system)
  const place = kind === 'OPERATOR' ? say('audit.commandLine') : [address, device].filter(Boolean).join(', ')
  return (
    <>
      <UnstyledButton className={styles.name} title={say('audit.onlyPerson')} onClick={() => change({ person: login })}>
        {login}
      </UnstyledButton>
      <span className={table.sub}>{place}</span>
      {isOpen && agent && <span className={table.sub}>{agent}</span>}
      {isOpen && requestId && <span className={`${table.sub} mono`}>{say('audit.request', { id: requestId })}</span>}
    </>
  )
}

/** The changed object. Its company is added if the list shows several companies. */
function Subject({ entry: { subject, company } }: { entry: Entry }) {
  const { say } = useWords()
  const { change, company: chosen } = useFilter()
  const showsCompany = useMe().kind !== 'COMPANY' && chosen === undefined && company !== null
  return (
    <span className={table.sub}>
      <UnstyledButton
        className={styles.subject}
        title={say('audit.onlySubject')}
        onClick={() => change({ subject: `${subject.kind}:${subject.id}` })}
      >
        {subject.name || subject.id}
      </UnstyledButton>
      {showsCompany && subject.kind !== 'company' && `, ${company.name}`}
    </span>
  )
}

type ValuesProps = { label: string; names: string[]; fields: Entry['before'] }

/** Both columns show the same fields in the same order, so that old and new values stand in one line. */
function Values({ label, names, fields }: ValuesProps) {
  const { nameOf, textOf } = useValues()
  if (names.length === 0) return <td className={styles.none} />
  return (
    <td className={styles.values} data-label={label}>
      <dl>
        {names.map(name => (
          <div key={name}>
            <dt>{nameOf(name)}</dt>
            <dd>{textOf(name, fields?.[name])}</dd>
          </div>
        ))}
      </dl>
    </td>
  )
}
