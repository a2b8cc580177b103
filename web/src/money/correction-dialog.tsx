import { Radio, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CorrectionForm, TopUpAnswer } from '../../../src/http/cabinet/money.ts'
import { ask } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FormProblem } from '../parts/form-problem.tsx'
import { tellDone } from '../parts/toast.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { useMoneyFormats } from './amounts.ts'
import { MONEY, type Money } from './money.ts'
import { amountIn, MOST_AT_ONCE, problemOfAmount } from './typed-amount.ts'

const directions = ['take', 'add'] as const
type Direction = (typeof directions)[number]

/** Mends a wrong top-up. The key belongs to the dialog: a second click or a repeated request counts once. */
export function CorrectionDialog({ money, onClose }: { money: Money; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const formats = useMoneyFormats()
  const [key] = useState(() => crypto.randomUUID())
  const [direction, setDirection] = useState<Direction>('take')
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const [isAsked, setIsAsked] = useState(false)
  const client = useQueryClient()
  const { company, currency, balance } = money
  const correct = useMutation({
    mutationFn: (form: CorrectionForm) =>
      ask<TopUpAnswer>('POST', `/money/corrections?companyId=${company.companyId}`, form, key),
    onSuccess: async answer => {
      await client.invalidateQueries({ queryKey: MONEY })
      tellDone(say('money.topUp.done', { balance: formats.money(answer.balance, currency) }))
      onClose()
    },
  })
  const typed = amountIn(amount)
  const problem = problemOfAmount(typed) ?? problemOfTaking(money, direction, Number(typed))
  const change = problem ? 0 : Number(typed) * (direction === 'take' ? -1 : 1)
  const most = problem === 'money.problem.notFree' ? freeOfBalance(money) : MOST_AT_ONCE
  const submit = () => {
    setIsAsked(true)
    if (problem || reason.trim() === '' || correct.isPending) return
    correct.mutate({ amount: direction === 'take' ? `-${typed}` : typed!, reason: reason.trim() })
  }
  return (
    <Dialog
      title={say('money.correction.title', { company: company.name })}
      text={say('money.correction.text', { balance: formats.money(balance, currency) })}
      submit={say('money.correction.submit')}
      isBusy={correct.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {correct.isError && <FormProblem>{describeProblem(words, correct.error)}</FormProblem>}
      <Radio.Group
        label={say('money.correction.direction')}
        value={direction}
        onChange={value => setDirection(value as Direction)}
      >
        {directions.map(value => (
          <Radio
            key={value}
            value={value}
            mt="lg"
            label={say(value === 'take' ? 'money.correction.take' : 'money.correction.add')}
          />
        ))}
      </Radio.Group>
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
        label={say('money.correction.reason')}
        description={say('money.correction.reasonHint')}
        autoComplete="off"
        maxLength={200}
        error={isAsked && reason.trim() === '' && say('money.correction.noReason')}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </Dialog>
  )
}

/** The server refuses it too: a prepaid company keeps what its messages hold. */
function problemOfTaking(money: Money, direction: Direction, amount: number) {
  const isLimited = direction === 'take' && money.billing === 'PREPAID'
  return isLimited && amount > freeOfBalance(money) ? ('money.problem.notFree' as const) : undefined
}

const freeOfBalance = ({ balance, reserved }: Money) => Math.max(0, Math.round((balance - reserved) * 10_000) / 10_000)
