import { useState } from 'react'
import { useFormats } from '../../format.ts'
import { Status } from '../../parts/content/status.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { KeyDialog, type KeyTask } from './key-dialogs.tsx'
import { KeyMenu } from './key-menu.tsx'
import { type ApiKey, type Keys, useNameOfKey } from './keys.ts'

type Props = { companyId: number; keys: Keys; mayChange: boolean }

export function KeysTable({ companyId, keys, mayChange }: Props) {
  const { say } = useWords()
  const [task, setTask] = useState<KeyTask>()
  return (
    <>
      <table className={`${table.table} ${styles.keys}`}>
        <thead>
          <tr>
            <th>{say('keys.name')}</th>
            <th>{say('keys.state')}</th>
            <th>{say('keys.kind')}</th>
            <th>{say('keys.from')}</th>
            <th className={table.number}>{say('keys.made')}</th>
            <th className={table.number}>{say('keys.requests')}</th>
            <th className={table.number}>{say('keys.used')}</th>
            <th className={table.actions} aria-label={say('app.more')} />
          </tr>
        </thead>
        <tbody>
          {keys.keys.map(key => (
            <KeyRow key={key.keyId} apiKey={key} mayChange={mayChange} onTask={setTask} />
          ))}
        </tbody>
      </table>
      {task && <KeyDialog companyId={companyId} task={task} trial={keys.trial} onClose={() => setTask(undefined)} />}
    </>
  )
}

type RowProps = { apiKey: ApiKey; mayChange: boolean; onTask(task: KeyTask): void }

function KeyRow({ apiKey, mayChange, onTask }: RowProps) {
  const { say } = useWords()
  const { date, number, ago } = useFormats()
  const nameOf = useNameOfKey()
  const { isActive, type, center, addresses, createdAt, requests, usedAt } = apiKey
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>{nameOf(apiKey)}</span>
        {center && <span className={table.sub}>{say('keys.center', { name: center })}</span>}
      </td>
      <td className={table.corner}>
        {isActive ? (
          <Status kind="ok">{say('keys.active')}</Status>
        ) : (
          <Status kind="wait" icon="slash">
            {say('keys.inactive')}
          </Status>
        )}
      </td>
      <td data-label={say('keys.kind')}>{say(`keys.kind.${type}`)}</td>
      <td data-label={say('keys.from')} className={addresses.length > 0 ? styles.addresses : table.dim}>
        <Addresses addresses={addresses} />
      </td>
      <td data-label={say('keys.made')} className={table.number}>
        {date(createdAt)}
      </td>
      <td data-label={say('keys.requests')} className={table.number}>
        {number(requests)}
      </td>
      <td data-label={say('keys.used')} className={`${table.number} ${usedAt ? '' : table.dim}`}>
        {usedAt ? ago(usedAt) : say('keys.never')}
      </td>
      <td className={table.actions}>
        <KeyMenu apiKey={apiKey} mayChange={mayChange} onTask={onTask} />
      </td>
    </tr>
  )
}

const SHOWN = 2

function Addresses({ addresses }: { addresses: string[] }) {
  const { say } = useWords()
  if (addresses.length === 0) return say('keys.anywhere')
  return (
    <>
      {addresses.slice(0, SHOWN).join(', ')}
      {addresses.length > SHOWN && (
        <span className={table.sub}>{say('keys.moreAddresses', { count: addresses.length - SHOWN })}</span>
      )}
    </>
  )
}
