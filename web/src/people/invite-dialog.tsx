import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Invitation, InvitedAnswer } from '../../../src/http/cabinet/companies/people.ts'
import { ask } from '../api.ts'
import { Icon } from '../parts/content/icon.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { LinkDialog } from './link-dialog.tsx'
import { PEOPLE, type Roles, usePeoplePath } from './people.ts'
import { RoleChoice } from './role-choice.tsx'

/** Creates a person and shows the link of the invitation. */
export function InviteDialog({ roles, onClose }: { roles: Roles; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const [login, setLogin] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState(roles.at(-1)!)
  const [isEmpty, setIsEmpty] = useState(false)
  const client = useQueryClient()
  const path = usePeoplePath()
  const invite = useMutation({
    mutationFn: (invitation: Invitation) => ask<InvitedAnswer>('POST', path(), invitation),
    onSuccess: () => client.invalidateQueries({ queryKey: PEOPLE }),
  })
  const submit = () => {
    setIsEmpty(login.trim() === '')
    if (login.trim() !== '') invite.mutate({ login: login.trim(), name: name.trim(), role })
  }
  if (invite.data) return <LinkDialog name={name.trim() || login.trim()} answer={invite.data} onClose={onClose} />

  const problem = invite.isError ? describeProblem(words, invite.error) : undefined
  const isOfLogin = /^login:/.test(invite.error?.message ?? '')
  return (
    <Dialog
      title={say('people.invite.title')}
      submit={say('people.invite.submit')}
      isBusy={invite.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {problem && !isOfLogin && <FormProblem>{problem}</FormProblem>}
      <TextInput
        label={say('people.invite.login')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        maxLength={255}
        error={isEmpty ? say('problem.login') : isOfLogin && problem}
        value={login}
        onChange={({ currentTarget }) => setLogin(currentTarget.value)}
      />
      <TextInput
        label={`${say('people.invite.name')}, ${say('people.invite.optional')}`}
        autoComplete="off"
        maxLength={100}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <RoleChoice roles={roles} value={role} onChange={setRole} />
    </Dialog>
  )
}

export function InviteButton({ onClick }: { onClick(): void }) {
  const { say } = useWords()
  return (
    <Button variant="filled" leftSection={<Icon name="plus" />} onClick={onClick}>
      {say('people.invite')}
    </Button>
  )
}
