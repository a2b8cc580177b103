import { useState } from 'react'
import { useFormats } from '../../format.ts'
import { Status } from '../../parts/content/status.tsx'
import type { Column } from '../../parts/lists/columns.ts'
import { Cell, ListTable } from '../../parts/lists/list-table.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { KeyDialog, type KeyTask } from './key-dialogs.tsx'
import { KeyMenu } from './key-menu.tsx'
import { type ApiKey, type Keys, useNameOfKey } from './keys.ts'

type Props = { companyId: number; keys: Keys; mayChange: boolean }

export function KeysTable({ companyId, keys, mayChange }: Props) {
  const { say } = useWords()
  const nameOf = useNameOfKey()
  const [task, setTask] = useState<KeyTask>()
  const number = table.number
  const columns: Column<ApiKey>[] = [
    { id: 'name', head: say('keys.name'), card: table.title, isKept: true, by: nameOf },
    {
      id: 'state',
      head: say('keys.state'),
      card: table.corner,
      by: key => say(key.isActive ? 'keys.active' : 'keys.inactive'),
    },
    { id: 'kind', head: say('keys.kind'), by: ({ type }) => say(`keys.kind.${type}`) },
    { id: 'from', head: say('keys.from') },
    { id: 'made', head: say('keys.made'), className: number, by: ({ createdAt }) => Date.parse(createdAt) },
    { id: 'requests', head: say('keys.requests'), className: number, by: ({ requests }) => requests },
    { id: 'used', head: say('keys.used'), className: number, by: ({ usedAt }) => usedAt && Date.parse(usedAt) },
    { id: 'actions', head: '', label: say('app.more'), className: table.actions, isKept: true },
  ]
  return (
    <>
      <ListTable name="keys" className={`${table.table} ${styles.keys}`} columns={columns} rows={keys.keys} canChoose>
        {key => <KeyRow key={key.keyId} apiKey={key} mayChange={mayChange} onTask={setTask} />}
      </ListTable>
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
      <Cell of="name">
        <span className={table.main}>{nameOf(apiKey)}</span>
        {center && <span className={table.sub}>{say('keys.center', { name: center })}</span>}
      </Cell>
      <Cell of="state">
        {isActive ? (
          <Status kind="ok">{say('keys.active')}</Status>
        ) : (
          <Status kind="wait" icon="slash">
            {say('keys.inactive')}
          </Status>
        )}
      </Cell>
      <Cell of="kind">{say(`keys.kind.${type}`)}</Cell>
      <Cell of="from" className={addresses.length > 0 ? styles.addresses : table.dim}>
        <Addresses addresses={addresses} />
      </Cell>
      <Cell of="made">{date(createdAt)}</Cell>
      <Cell of="requests">{number(requests)}</Cell>
      <Cell of="used" className={!usedAt && table.dim}>
        {usedAt ? ago(usedAt) : say('keys.never')}
      </Cell>
      <Cell of="actions">
        <KeyMenu apiKey={apiKey} mayChange={mayChange} onTask={onTask} />
      </Cell>
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
