import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { NewPassword } from '../../../src/http/cabinet/sign-in/account.ts'
import { ask } from '../api.ts'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { PasswordField, refusalOfNew } from '../parts/forms/password-field.tsx'
import { describeProblem } from '../problems.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'
import { sessionsQuery } from './account.ts'

const nothing = { before: '', password: '', again: '' }

export function PasswordForm() {
  const words = useWords()
  const { say } = words
  const { login } = useMe()
  const client = useQueryClient()
  const [typed, setTyped] = useState(nothing)
  const [refusal, setRefusal] = useState<ReturnType<typeof refusalOfNew>>()
  const change = useMutation({
    mutationFn: (body: NewPassword) => ask<void>('PUT', '/account/password', body),
    onSuccess: async () => {
      setTyped(nothing)
      tellDone(say('account.password.changed'))
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = refusalOfNew(typed.password, typed.again)
    setRefusal(found)
    if (!found) change.mutate({ before: typed.before, password: typed.password })
  }
  const field = (name: keyof typeof nothing, autoComplete: string) => ({
    autoComplete,
    value: typed[name],
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setTyped({ ...typed, [name]: currentTarget.value }),
  })
  const isComplete = typed.before !== '' && typed.password !== '' && typed.again !== ''

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      {/* Password managers store the new password under this login. */}
      <input type="text" name="login" autoComplete="username" value={login} readOnly hidden />
      <PasswordField label={say('account.password.before')} {...field('before', 'current-password')} />
      <PasswordField
        label={say('account.password.new')}
        description={say('invitation.rule')}
        error={refusal && refusal !== 'problem.passwordsDiffer' && say(refusal)}
        {...field('password', 'new-password')}
      />
      <PasswordField
        label={say('account.password.again')}
        error={refusal === 'problem.passwordsDiffer' && say(refusal)}
        {...field('again', 'new-password')}
      />
      <Button type="submit" loading={change.isPending} disabled={!isComplete}>
        {say('account.password.submit')}
      </Button>
    </form>
  )
}
