import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SecondFactorCode, SignInAnswer } from '../../../src/http/cabinet/sign-in/session.ts'
import { ask, isSignedOut } from '../api.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { withHyphen } from '../parts/forms/recovery-code.ts'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import styles from './entrance.module.css'

const DIGITS = 6

/** The code of the authenticator app, or a recovery code. Six digits are sent as soon as they are typed. */
export function SecondStep({ onDone, onBack }: { onDone(): void; onBack(): void }) {
  const words = useWords()
  const { say } = words
  const [code, setCode] = useState('')
  const [isRecovery, setIsRecovery] = useState(false)
  const complete = useMutation({
    mutationFn: (body: SecondFactorCode) => ask<SignInAnswer>('POST', '/session/second-factor', body),
    onSuccess: onDone,
    // The ten minutes for the code are over.
    onError: error => isSignedOut(error) && onBack(),
  })
  const send = (given: string) => complete.mutate({ code: isRecovery ? withHyphen(given) : given })
  const type = (text: string) => {
    const given = isRecovery ? text : text.replace(/\D/g, '').slice(0, DIGITS)
    setCode(given)
    if (!isRecovery && given.length === DIGITS && given !== code) send(given)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (code.length >= DIGITS) send(code)
  }
  const switchKind = () => {
    setIsRecovery(!isRecovery)
    setCode('')
    complete.reset()
  }

  return (
    <form onSubmit={submit} noValidate>
      <h1>{say('signIn.code.title')}</h1>
      <p className="note">{say(isRecovery ? 'signIn.code.recoveryText' : 'signIn.code.text')}</p>
      {complete.isError && <FormProblem>{describeProblem(words, complete.error)}</FormProblem>}
      <TextInput
        key={String(isRecovery)}
        size="md"
        label={say(isRecovery ? 'signIn.code.recoveryLabel' : 'signIn.code.label')}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        classNames={{ input: styles.code }}
        value={code}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <Button type="submit" variant="filled" size="md" fullWidth loading={complete.isPending}>
        {say('signIn.code.submit')}
      </Button>
      <div className={styles.ways}>
        <button type="button" className="link" onClick={switchKind}>
          {say(isRecovery ? 'signIn.code.useApp' : 'signIn.code.useRecovery')}
        </button>
        <button type="button" className="link" onClick={onBack}>
          {say('signIn.code.back')}
        </button>
      </div>
    </form>
  )
}
