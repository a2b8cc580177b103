import { TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewSecondFactor, ProposalAnswer, RecoveryCodesAnswer } from '../../../src/http/cabinet/sign-in/account.ts'
import type { SecondFactorCode } from '../../../src/http/cabinet/sign-in/session.ts'
import { ask, ServerError } from '../api.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { PasswordField } from '../parts/forms/password-field.tsx'
import { QrCode } from '../parts/forms/qr-code.tsx'
import { withHyphen } from '../parts/forms/recovery-code.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { describeProblem, keyOf } from '../problems.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'

type CodesProps = { onCodes(codes: string[]): void; onClose(): void }

/**
 * Shows the secret key for the authenticator app. A code of the app proves that the app works. The password proves that
 * the account owner asks for it.
 */
export function SwitchOnDialog({ onCodes, onClose }: CodesProps) {
  const words = useWords()
  const { say } = words
  const { login } = useMe()
  const [code, setCode] = useState('')
  const [password, setPassword] = useState('')
  // Each opening of the dialog gets a new key, so no key is cached.
  const proposal = useQuery({
    queryKey: ['second-factor', 'proposal'],
    queryFn: () => ask<ProposalAnswer>('POST', '/account/second-factor/proposal'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const switchOn = useMutation({
    mutationFn: (body: NewSecondFactor) => ask<RecoveryCodesAnswer>('POST', '/account/second-factor', body),
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes),
  })
  const problem = switchOn.error ?? proposal.error
  const text = problem && describeProblem(words, problem)
  const key = problem instanceof ServerError ? keyOf(problem.message) : undefined
  const isOfField = key === 'problem.code' || key === 'problem.presentPassword'
  const [isAsked, setIsAsked] = useState(false)
  const empty = (typed: string) => isAsked && typed === '' && say('problem.empty')
  const submit = () => {
    setIsAsked(true)
    if (proposal.data && code && password) switchOn.mutate({ secret: proposal.data.secret, code, password })
  }
  return (
    <Dialog
      title={say('account.second.title')}
      text={say('account.second.scan')}
      submit={say('account.second.switchOn')}
      isBusy={switchOn.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {text && !isOfField && <FormProblem>{text}</FormProblem>}
      {proposal.data ? <Key {...proposal.data} /> : <BoneRows rows={3} />}
      <TextInput
        label={say('account.second.code')}
        inputMode="numeric"
        autoComplete="one-time-code"
        data-autofocus
        error={empty(code) || (key === 'problem.code' && text)}
        value={code}
        onChange={({ currentTarget }) => setCode(currentTarget.value.replace(/\D/g, '').slice(0, 6))}
      />
      {/* Password managers fill in the password of this login. */}
      <input type="text" name="login" autoComplete="username" value={login} readOnly hidden />
      <PasswordField
        label={say('account.password.before')}
        autoComplete="current-password"
        error={empty(password) || (key === 'problem.presentPassword' && text)}
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
      />
    </Dialog>
  )
}

function Key({ address, secret }: ProposalAnswer) {
  const { say } = useWords()
  return (
    <div className={styles.setUp}>
      <QrCode text={address} label={say('account.second.qr')} />
      <div>
        <p className="note">{say('account.second.secret')}</p>
        <p className={styles.secret}>{secret.match(/.{1,4}/g)?.join(' ')}</p>
      </div>
    </div>
  )
}

export function RenewCodesDialog({ onCodes, onClose }: CodesProps) {
  const { say } = useWords()
  const renew = useMutation({
    mutationFn: (body: SecondFactorCode) =>
      ask<RecoveryCodesAnswer>('POST', '/account/second-factor/recovery-codes', body),
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes),
  })
  return (
    <CodeDialog
      title={say('account.second.renew.title')}
      text={say('account.second.renew.text')}
      submit={say('account.second.newCodes')}
      sending={renew}
      onClose={onClose}
    />
  )
}

export function SwitchOffDialog({ onDone, onClose }: { onDone(): void; onClose(): void }) {
  const { say } = useWords()
  const switchOff = useMutation({
    mutationFn: (body: SecondFactorCode) => ask<void>('DELETE', '/account/second-factor', body),
    onSuccess: () => {
      tellDone(say('account.second.switchedOff'))
      onDone()
    },
  })
  return (
    <CodeDialog
      title={say('account.second.off.title')}
      text={say('account.second.off.text')}
      submit={say('account.second.switchOff')}
      isDangerous
      sending={switchOff}
      onClose={onClose}
    />
  )
}

type CodeDialogProps = {
  title: string
  text: string
  submit: string
  isDangerous?: boolean
  sending: { mutate(body: SecondFactorCode): void; isPending: boolean; error: unknown }
  onClose(): void
}

/** Asks for a code before a change of the second factor. */
function CodeDialog({ sending, onClose, ...said }: CodeDialogProps) {
  const words = useWords()
  const [code, setCode] = useState('')
  const [isAsked, setIsAsked] = useState(false)
  const isEmpty = code.trim() === ''
  const submit = () => {
    setIsAsked(true)
    if (!isEmpty) sending.mutate({ code: withHyphen(code) })
  }
  const refusal = sending.error ? describeProblem(words, sending.error) : undefined
  const problem = isAsked && isEmpty ? words.say('problem.empty') : refusal
  return (
    <Dialog {...said} isBusy={sending.isPending} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={words.say('account.second.anyCode')}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        maxLength={20}
        error={problem}
        value={code}
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
      />
    </Dialog>
  )
}
