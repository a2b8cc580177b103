import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TopUpAnswer, TopUpForm } from '../../../src/http/cabinet/money.ts'
import { ask } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FormProblem } from '../parts/form-problem.tsx'
import { tellDone } from '../parts/toast.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { useMoneyFormats } from './amounts.ts'
import { MONEY, type Money } from './money.ts'
import { amountIn, MOST_AT_ONCE, problemOfAmount } from './typed-amount.ts'

/** Records money that came in. The key belongs to the dialog: a second click or a repeated request pays once. */
export function TopUpDialog({ money, onClose }: { money: Money; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const formats = useMoneyFormats()
  const [key] = useState(() => crypto.randomUUID())
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState<ReturnType<typeof problemOfAmount>>()
  const client = useQueryClient()
  const { company, currency, balance } = money
  const topUp = useMutation({
    mutationFn: (form: TopUpForm) =>
      ask<TopUpAnswer>('POST', `/money/top-ups?companyId=${company.companyId}`, form, key),
    onSuccess: async answer => {
      await client.invalidateQueries({ queryKey: MONEY })
      tellDone(say('money.topUp.done', { balance: formats.money(answer.balance, currency) }))
      onClose()
    },
  })
  const typed = amountIn(amount)
  const submit = () => {
    const found = problemOfAmount(typed)
    setProblem(found)
    if (typed !== undefined && !found && !topUp.isPending) topUp.mutate({ amount: typed, note: note.trim() })
  }
  const isGood = problemOfAmount(typed) === undefined
  return (
    <Dialog
      title={say('money.topUp.title', { company: company.name })}
      text={say('money.topUp.text', { balance: formats.money(balance, currency) })}
      submit={say('money.topUp.submit')}
      isBusy={topUp.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {topUp.isError && <FormProblem>{describeProblem(words, topUp.error)}</FormProblem>}
      <TextInput
        label={say('money.topUp.amount', { sign: formats.sign(currency) })}
        inputMode="decimal"
        autoComplete="off"
        data-autofocus
        maxLength={20}
        description={say('money.topUp.after', {
          balance: formats.money(isGood ? balance + Number(typed) : balance, currency),
        })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        error={problem && say(problem, { most: formats.money(MOST_AT_ONCE, currency) })}
        value={amount}
        onChange={({ currentTarget }) => setAmount(currentTarget.value)}
      />
      <TextInput
        label={say('money.topUp.note')}
        description={say('money.topUp.noteHint')}
        autoComplete="off"
        maxLength={200}
        value={note}
        onChange={({ currentTarget }) => setNote(currentTarget.value)}
      />
    </Dialog>
  )
}
