import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type {
  Acceptance,
  AcceptanceAnswer,
  InvitationAnswer,
  SignInAnswer,
} from '../../../src/http/cabinet/sign-in/session.ts'
import { ask, ServerError } from '../api.ts'
import { useGoBackTo } from '../go-back.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { PasswordField, refusalOfNew } from '../parts/forms/password-field.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { usePageTitle } from '../parts/pages/page-head.tsx'
import { describeProblem } from '../problems.ts'
import { queryClient } from '../session.ts'
import { Entrance } from '../sign-in/entrance.tsx'
import { useWords } from '../words/words.ts'

/**
 * An invited person sets a password. The token is in the fragment of the URL, because browsers never send the fragment
 * to a server.
 */
export function InvitationPage() {
  const { say } = useWords()
  const [token] = useState(() => window.location.hash.slice(1))
  usePageTitle(say('invitation.title'))
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => ask<InvitationAnswer>('POST', '/invitation', { token }),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Entrance>
      {token === '' || isGone(invitation.error) ? (
        <Gone />
      ) : invitation.isError ? (
        <ErrorState error={invitation.error} onRetry={invitation.refetch} />
      ) : invitation.data ? (
        <Welcome token={token} login={invitation.data.login} />
      ) : (
        <BoneRows />
      )}
    </Entrance>
  )
}

const isGone = (error: unknown) => error instanceof ServerError && error.status === 404

function Gone() {
  const { say } = useWords()
  return (
    <Blank drawing="lost" title={say('invitation.gone.title')} text={say('invitation.gone.text')} level={1}>
      <Button component={Link} to="/sign-in">
        {say('invitation.gone.signIn')}
      </Button>
    </Blank>
  )
}

function Welcome({ token, login }: { token: string; login: string }) {
  const words = useWords()
  const { say } = words
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [refusal, setRefusal] = useState<ReturnType<typeof refusalOfNew>>()
  const accept = useAccept(login)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = refusalOfNew(password, again)
    setRefusal(found)
    if (!found) accept.mutate({ token, password })
  }
  if (isGone(accept.error)) return <Gone />
  return (
    <form onSubmit={submit} noValidate>
      <h1>{say('invitation.title')}</h1>
      <p className="note">{say('invitation.text', { login })}</p>
      {accept.isError && <FormProblem>{describeProblem(words, accept.error)}</FormProblem>}
      {/* Password managers store the new password under this login. */}
      <input type="text" name="login" autoComplete="username" value={login} readOnly hidden />
      <PasswordField
        size="md"
        label={say('invitation.password')}
        description={say('invitation.rule')}
        autoComplete="new-password"
        autoFocus
        error={refusal && refusal !== 'problem.passwordsDiffer' && say(refusal)}
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
      />
      <PasswordField
        size="md"
        label={say('invitation.again')}
        autoComplete="new-password"
        error={refusal === 'problem.passwordsDiffer' && say(refusal)}
        value={again}
        onChange={({ currentTarget }) => setAgain(currentTarget.value)}
      />
      <Button type="submit" variant="filled" size="md" fullWidth loading={accept.isPending}>
        {say('invitation.submit')}
      </Button>
    </form>
  )
}

/** Signs in with the new password. A person with a second factor enters the code on the sign-in page. */
function useAccept(login: string) {
  const navigate = useNavigate()
  const goBackTo = useGoBackTo()
  return useMutation({
    mutationFn: async (acceptance: Acceptance) => {
      await ask<AcceptanceAnswer>('POST', '/invitation/accept', acceptance)
      return ask<SignInAnswer>('POST', '/session', { login, password: acceptance.password })
    },
    onSuccess: ({ needsSecondFactor }) => {
      queryClient.clear()
      if (needsSecondFactor) return navigate({ to: '/sign-in' })
      goBackTo('/')
    },
  })
}
