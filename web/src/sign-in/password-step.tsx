import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import type { Credentials, SignInAnswer } from '../../../src/http/cabinet/sign-in/session.ts'
import { ask } from '../api.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { PasswordField } from '../parts/forms/password-field.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { DemoLogins } from './demo-logins.tsx'

type Props = { isOver: boolean; onDone(needsSecondFactor: boolean): void }

export function PasswordStep({ isOver, onDone }: Props) {
  const words = useWords()
  const { say } = words
  const [login, setLogin] = useState('')
  const [password, setPassword] = useState('')
  const passwordField = useRef<HTMLInputElement>(null)
  const signIn = useMutation({
    mutationFn: (credentials: Credentials) => ask<SignInAnswer>('POST', '/session', credentials),
    onSuccess: ({ needsSecondFactor }) => onDone(needsSecondFactor),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (login.trim() && password) signIn.mutate({ login: login.trim(), password })
    else passwordField.current?.focus()
  }
  /** If the password is typed already, a demo login signs in at once. */
  const chooseDemo = (chosen: string) => {
    setLogin(chosen)
    if (password) signIn.mutate({ login: chosen, password })
    else passwordField.current?.focus()
  }

  return (
    <>
      <form onSubmit={submit} noValidate>
        <h1>{say('signIn.title')}</h1>
        {isOver && !signIn.isError && <p className="note">{say('signIn.over')}</p>}
        {signIn.isError && <FormProblem>{describeProblem(words, signIn.error)}</FormProblem>}
        <TextInput
          size="md"
          label={say('signIn.login')}
          name="login"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          value={login}
          onChange={({ currentTarget }) => setLogin(currentTarget.value)}
        />
        <PasswordField
          ref={passwordField}
          size="md"
          label={say('signIn.password')}
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Button type="submit" variant="filled" size="md" fullWidth loading={signIn.isPending}>
          {say('signIn.submit')}
        </Button>
      </form>
      <DemoLogins onChoose={chooseDemo} />
    </>
  )
}
