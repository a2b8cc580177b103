import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { LinkAnswer, PersonChange } from '../../../src/http/cabinet/companies/people.ts'
import { ask } from '../api.ts'
import { Band } from '../parts/content/band.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone, tellProblem } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { nameOf, useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { LinkDialog } from './link-dialog.tsx'
import { type Colleague, PEOPLE, type Roles, usePeoplePath } from './people.ts'
import { RoleChoice } from './role-choice.tsx'

/** An action of the viewer on a person. */
export type PersonTask = { kind: 'role' | 'link' | 'deactivate' | 'activate'; person: Colleague }

type Props = { person: Colleague; onClose(): void }

export function PersonDialog({ task, roles, onClose }: { task: PersonTask; roles: Roles; onClose(): void }) {
  const { kind, person } = task
  if (kind === 'role') return <RoleDialog person={person} roles={roles} onClose={onClose} />
  if (kind === 'link') return <NewLinkDialog person={person} onClose={onClose} />
  return <ActiveDialog person={person} isActive={kind === 'activate'} onClose={onClose} />
}

/** Changes a person and shows a toast. The dialog shows a refusal. */
function useChange({ person, onClose }: Props, done: (change: PersonChange) => string) {
  const client = useQueryClient()
  const path = usePeoplePath()
  return useMutation({
    mutationFn: (change: PersonChange) => ask<void>('PATCH', path(`/${person.personId}`), change),
    onSuccess: async (_, change) => {
      await client.invalidateQueries({ queryKey: PEOPLE })
      tellDone(done(change))
      onClose()
    },
  })
}

function RoleDialog({ person, roles, onClose }: Props & { roles: Roles }) {
  const words = useWords()
  const { say } = words
  const [role, setRole] = useState(person.role)
  const name = nameOf(person)
  const change = useChange({ person, onClose }, () => say('people.roleChanged', { name, role: say(`role.${role}`) }))
  return (
    <Dialog
      title={say('people.role.title', { name })}
      submit={say('people.role.submit')}
      isBusy={change.isPending}
      onSubmit={() => change.mutate({ role, seen: person.role })}
      onClose={onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <RoleChoice roles={roles} value={role} onChange={setRole} />
    </Dialog>
  )
}

function ActiveDialog({ person, isActive, onClose }: Props & { isActive: boolean }) {
  const words = useWords()
  const { say } = words
  const name = nameOf(person)
  const change = useChange({ person, onClose }, () =>
    say(isActive ? 'people.activated' : 'people.deactivated', { name }),
  )
  return (
    <Dialog
      title={say(isActive ? 'people.activate.title' : 'people.deactivate.title', { name })}
      text={say(isActive ? 'people.activate.text' : 'people.deactivate.text')}
      submit={say(isActive ? 'people.activate' : 'people.deactivate')}
      isDangerous={!isActive}
      isBusy={change.isPending}
      onSubmit={() => change.mutate({ isActive })}
      onClose={onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      {!isActive && person.isApiLogin && <ApiStays />}
    </Dialog>
  )
}

/** The partner API still accepts the login of a deactivated person, because the login belongs to the partner. */
function ApiStays() {
  const { say } = useWords()
  const { kind } = useMe()
  return (
    <Band kind="warn" title={say('people.deactivate.api')}>
      <p>{say(kind === 'STAFF' ? 'people.deactivate.api.staff' : 'people.deactivate.api.partner')}</p>
    </Band>
  )
}

/** Asks for confirmation, because earlier links stop working. */
function NewLinkDialog({ person, onClose }: Props) {
  const { say } = useWords()
  const name = nameOf(person)
  const path = usePeoplePath()
  const renew = useMutation({
    mutationFn: () => ask<LinkAnswer>('POST', path(`/${person.personId}/invitation`)),
    onError: tellProblem,
  })
  if (renew.data) return <LinkDialog name={name} answer={renew.data} onClose={onClose} />
  return (
    <Dialog
      title={say('people.link.reset.title', { name })}
      text={say('people.link.reset.text')}
      submit={say('people.link.reset.submit')}
      isBusy={renew.isPending}
      onSubmit={() => renew.mutate()}
      onClose={onClose}
    >
      {person.isApiLogin && <Band kind="warn" title={say('people.link.reset.api')} />}
    </Dialog>
  )
}
