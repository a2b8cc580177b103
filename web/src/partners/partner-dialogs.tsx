import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PasswordAnswer } from '../../../src/http/cabinet/companies/partners.ts'
import { ask } from '../api.ts'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { PARTNERS, type Partner } from './partners.ts'

/** Creates a partner and shows the password of its owner. */
export function NewPartnerDialog({ onClose }: { onClose(): void }) {
  const words = useWords()
  const { say } = words
  const [login, setLogin] = useState('')
  const [isEmpty, setIsEmpty] = useState(false)
  const client = useQueryClient()
  const create = useMutation({
    mutationFn: () => ask<PasswordAnswer>('POST', '/partners', { login: login.trim() }),
    onSuccess: () => client.invalidateQueries({ queryKey: PARTNERS }),
  })
  const submit = () => {
    setIsEmpty(login.trim() === '')
    if (login.trim() !== '') create.mutate()
  }
  if (create.data) return <PasswordDialog login={login.trim()} password={create.data.password} onClose={onClose} />

  const problem = create.isError ? describeProblem(words, create.error) : undefined
  const isOfLogin = /^login:/.test(create.error?.message ?? '')
  return (
    <Dialog
      title={say('partners.new')}
      text={say('partners.new.text')}
      submit={say('partners.new.submit')}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {problem && !isOfLogin && <FormProblem>{problem}</FormProblem>}
      <TextInput
        label={say('partners.login')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        maxLength={200}
        error={isEmpty ? say('problem.login') : isOfLogin && problem}
        value={login}
        onChange={({ currentTarget }) => setLogin(currentTarget.value)}
      />
    </Dialog>
  )
}

/** Shows the password. The server stores only a hash and never shows it again. */
function PasswordDialog({ login, password, onClose }: { login: string; password: string; onClose(): void }) {
  const { say } = useWords()
  return (
    <Dialog
      title={say('partners.password.title', { login })}
      text={say('partners.password.text')}
      close={say('app.done')}
      onClose={onClose}
    >
      <CopyField label={say('partners.password')} value={password} />
    </Dialog>
  )
}

type Props = { partner: Pick<Partner, 'partnerId' | 'login' | 'isActive'>; onClose(): void }

/** Asks for confirmation, because the new password ends tokens and sessions. */
export function NewPasswordDialog({ partner: { partnerId, login }, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const renew = useMutation({ mutationFn: () => ask<PasswordAnswer>('POST', `/partners/${partnerId}/password`) })
  if (renew.data) return <PasswordDialog login={login} password={renew.data.password} onClose={onClose} />
  return (
    <Dialog
      title={say('partners.renew.title', { login })}
      text={say('partners.renew.text')}
      submit={say('partners.renew.submit')}
      isDangerous
      isBusy={renew.isPending}
      onSubmit={() => renew.mutate()}
      onClose={onClose}
    >
      {renew.isError && <FormProblem>{describeProblem(words, renew.error)}</FormProblem>}
    </Dialog>
  )
}

export function StateDialog({ partner: { partnerId, login, isActive }, onClose }: Props) {
  const { say } = useWords()
  return (
    <ConfirmDialog
      title={say(isActive ? 'partners.disable.title' : 'partners.enable.title', { login })}
      text={say(isActive ? 'partners.disable.text' : 'partners.enable.text')}
      submit={say(isActive ? 'partners.disable' : 'partners.enable')}
      isDangerous={isActive}
      change={() => ask<void>('PUT', `/partners/${partnerId}/state`, { isActive: !isActive })}
      stale={[PARTNERS]}
      done={say(isActive ? 'partners.disabled' : 'partners.enabled', { login })}
      onClose={onClose}
    />
  )
}

export function UnlockDialog({ partner: { partnerId, login }, onClose }: Props) {
  const { say } = useWords()
  return (
    <ConfirmDialog
      title={say('partners.unlock.title', { login })}
      text={say('partners.unlock.text')}
      submit={say('partners.unlock')}
      change={() => ask<void>('POST', `/partners/${partnerId}/unlock`)}
      stale={[PARTNERS]}
      done={say('partners.unlocked', { login })}
      onClose={onClose}
    />
  )
}
