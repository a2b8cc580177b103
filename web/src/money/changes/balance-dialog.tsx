import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { CorrectionForm, TopUpAnswer, TopUpForm } from '../../../../src/http/cabinet/money/money.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { useMoneyFormats } from '../amounts.ts'
import { MONEY, type Money } from '../money.ts'
import { amountIn, MOST_AT_ONCE, problemOfAmount } from './typed-amount.ts'

export type BalanceDialogProps = { money: Money; onClose(): void }
type Props = BalanceDialogProps & {
  kind: 'topUp' | 'correction'
  path: 'top-ups' | 'corrections'
  isTaken?: boolean
  /** The most that can be taken, if there is a limit. */
  mostTaken?: number | undefined
  isNoteNeeded?: boolean
  formOf(amount: string, note: string): TopUpForm | CorrectionForm
  children?: ReactNode
}

const texts = {
  topUp: {
    title: 'money.topUp.title',
    text: 'money.topUp.text',
    note: 'money.topUp.note',
    noteHint: 'money.topUp.noteHint',
    submit: 'money.topUp.submit',
  },
  correction: {
    title: 'money.correction.title',
    text: 'money.correction.text',
    note: 'money.correction.note',
    noteHint: 'money.correction.noteHint',
    submit: 'money.correction.submit',
  },
} as const

/**
 * Records a change of the balance. The idempotency key belongs to the dialog, so a second click or a repeated request
 * counts once.
 */
export function BalanceDialog(props: Props) {
  const { money, kind, isTaken = false, mostTaken, isNoteNeeded = false, formOf, children, onClose } = props
  const words = useWords()
  const { say } = words
  const formats = useMoneyFormats()
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [isAsked, setIsAsked] = useState(false)
  const record = useRecord(props)
  const { company, currency, balance } = money
  const typed = amountIn(amount)
  const problem = problemOfAmount(typed) ?? problemOfTaking(Number(typed), mostTaken)
  const change = problem ? 0 : Number(typed) * (isTaken ? -1 : 1)
  const most = problem === 'money.problem.notFree' ? (mostTaken ?? 0) : MOST_AT_ONCE
  const isNoteMissing = isNoteNeeded && note.trim() === ''
  const submit = () => {
    setIsAsked(true)
    if (typed !== undefined && !problem && !isNoteMissing && !record.isPending)
      record.mutate(formOf(typed, note.trim()))
  }
  return (
    <Dialog
      title={say(texts[kind].title, { company: company.name })}
      text={say(texts[kind].text, { balance: formats.money(balance, currency) })}
      submit={say(texts[kind].submit)}
      isBusy={record.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {record.isError && <FormProblem>{describeProblem(words, record.error)}</FormProblem>}
      {children}
      <TextInput
        label={say('money.topUp.amount', { sign: formats.sign(currency) })}
        inputMode="decimal"
        autoComplete="off"
        data-autofocus
        maxLength={20}
        description={say('money.topUp.after', { balance: formats.money(balance + change, currency) })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        error={isAsked && problem && say(problem, { most: formats.money(most, currency) })}
        value={amount}
        onChange={({ currentTarget }) => setAmount(currentTarget.value)}
      />
      <TextInput
        label={say(texts[kind].note)}
        description={say(texts[kind].noteHint)}
        autoComplete="off"
        maxLength={200}
        error={isAsked && isNoteMissing && say('money.correction.noNote')}
        value={note}
        onChange={({ currentTarget }) => setNote(currentTarget.value)}
      />
    </Dialog>
  )
}

function useRecord({ money: { company, currency }, path, onClose }: Props) {
  const { say } = useWords()
  const { money } = useMoneyFormats()
  const [key] = useState(() => crypto.randomUUID())
  const client = useQueryClient()
  return useMutation({
    mutationFn: (form: TopUpForm | CorrectionForm) =>
      ask<TopUpAnswer>('POST', `/money/${path}?companyId=${company.companyId}`, form, key),
    onSuccess: async ({ balance }) => {
      await client.invalidateQueries({ queryKey: MONEY })
      tellDone(say('money.topUp.done', { balance: money(balance, currency) }))
      onClose()
    },
  })
}

/** The server checks it, too. */
const problemOfTaking = (amount: number, most = Number.POSITIVE_INFINITY) =>
  amount > most ? ('money.problem.notFree' as const) : undefined
