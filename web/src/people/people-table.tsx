import { useState } from 'react'
import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
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
  return (
    <>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('people.person')}</th>
            <th>{say('people.state')}</th>
            <th>{say('people.role')}</th>
            <th>{say('people.second')}</th>
            <th className={table.number}>{say('people.since')}</th>
            {mayChange && <th className={table.actions} aria-label={say('app.more')} />}
          </tr>
        </thead>
        <tbody>
          {people.map(person => (
            <PersonRow key={person.personId} person={person} onTask={mayChange ? setTask : undefined} />
          ))}
        </tbody>
      </table>
      {task && <PersonDialog task={task} roles={roles} onClose={() => setTask(undefined)} />}
    </>
  )
}

type RowProps = { person: Colleague; onTask: ((task: PersonTask) => void) | undefined }

function PersonRow({ person, onTask }: RowProps) {
  const { say } = useWords()
  const { date } = useFormats()
  const isMe = useMe().personId === person.personId
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>
          {nameOf(person)}
          {isMe && <span className={table.tag}>{say('people.you')}</span>}
        </span>
        {person.name.trim() && <span className={table.sub}>{person.login}</span>}
      </td>
      <td className={table.corner}>
        <PersonState person={person} />
      </td>
      <td data-label={say('people.role')}>{say(`role.${person.role}`)}</td>
      <td data-label={say('people.second')} className={person.hasSecondFactor ? '' : table.dim}>
        {say(person.hasSecondFactor ? 'people.second.on' : 'people.second.off')}
      </td>
      <td data-label={say('people.since')} className={table.number}>
        {date(person.createdAt)}
      </td>
      {onTask && <td className={table.actions}>{!isMe && <PersonMenu person={person} onTask={onTask} />}</td>}
    </tr>
  )
}

function PersonState({ person: { isActive, isInvited } }: { person: Colleague }) {
  const { say } = useWords()
  if (!isActive)
    return (
      <Status kind="wait" icon="slash">
        {say('people.state.deactivated')}
      </Status>
    )
  if (isInvited) return <Status kind="wait">{say('people.state.invited')}</Status>
  return <Status kind="ok">{say('people.state.active')}</Status>
}
