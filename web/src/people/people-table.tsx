import { useState } from 'react'
import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
import table from '../parts/lists/table.module.css'
import { nameOf, useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import type { Colleague, Roles } from './people.ts'
import { PersonDialog, type PersonTask } from './person-dialogs.tsx'
import { PersonMenu } from './person-menu.tsx'

type Props = { people: Colleague[]; roles: Roles; mayChange: boolean }

export function PeopleTable({ people, roles, mayChange }: Props) {
  const { say } = useWords()
  const [task, setTask] = useState<PersonTask>()
  const columns: Column<Colleague>[] = [
    { id: 'person', head: say('people.person'), card: table.title, by: nameOf },
    { id: 'state', head: say('people.state'), card: table.corner, by: person => say(stateOf(person)) },
    { id: 'role', head: say('people.role'), by: ({ role }) => say(`role.${role}`) },
    { id: 'second', head: say('people.second'), by: person => say(secondOf(person)) },
    { id: 'since', head: say('people.since'), className: table.number, by: ({ createdAt }) => Date.parse(createdAt) },
    ...(mayChange ? [{ id: 'actions', head: '', label: say('app.more'), className: table.actions }] : []),
  ]
  return (
    <>
      <ListTable name="people" className={table.table} columns={columns} rows={people}>
        {person => <PersonRow key={person.personId} person={person} onTask={setTask} />}
      </ListTable>
      {task && <PersonDialog task={task} roles={roles} onClose={() => setTask(undefined)} />}
    </>
  )
}

type RowProps = { person: Colleague; onTask(task: PersonTask): void }

function PersonRow({ person, onTask }: RowProps) {
  const { say } = useWords()
  const { date } = useFormats()
  const isMe = useMe().personId === person.personId
  return (
    <tr>
      <Cell of="person">
        <span className={table.main}>
          {nameOf(person)}
          {isMe && <span className={table.tag}>{say('people.you')}</span>}
        </span>
        {person.name.trim() && <span className={table.sub}>{person.login}</span>}
      </Cell>
      <Cell of="state">
        <PersonState person={person} />
      </Cell>
      <Cell of="role">{say(`role.${person.role}`)}</Cell>
      <Cell of="second" className={!person.hasSecondFactor && table.dim}>
        {say(secondOf(person))}
      </Cell>
      <Cell of="since">{date(person.createdAt)}</Cell>
      <Cell of="actions">{!isMe && <PersonMenu person={person} onTask={onTask} />}</Cell>
    </tr>
  )
}

const looks = {
  'people.state.deactivated': { kind: 'wait', icon: 'slash' },
  'people.state.invited': { kind: 'wait' },
  'people.state.active': { kind: 'ok' },
} as const

const stateOf = ({ isActive, isInvited }: Colleague): keyof typeof looks =>
  !isActive ? 'people.state.deactivated' : isInvited ? 'people.state.invited' : 'people.state.active'

const secondOf = ({ hasSecondFactor }: Colleague) => (hasSecondFactor ? 'people.second.on' : 'people.second.off')

function PersonState({ person }: { person: Colleague }) {
  const { say } = useWords()
  const state = stateOf(person)
  return <Status {...looks[state]}>{say(state)}</Status>
}
