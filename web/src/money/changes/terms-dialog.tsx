import { Radio, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TermsForm } from '../../../../src/http/cabinet/money/money.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import radio from '../../parts/forms/radio-choice.module.css'
import { describeProblem } from '../../problems.ts'
import { oneOf } from '../../search-values.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { useMoneyFormats } from '../amounts.ts'
import { MONEY, type Money } from '../money.ts'
import { amountIn } from './typed-amount.ts'

const modes = ['POSTPAID', 'PREPAID'] as const

/** Changes the monthly budget. Staff also change the billing mode. */
export function TermsDialog({ money, onClose }: { money: Money; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const { sign } = useMoneyFormats()
  const isStaff = useMe().kind === 'STAFF'
  // The values with which the form began. The server refuses to overwrite a newer change.
  const [before] = useState(money.terms)
  const [budget, setBudget] = useState(before.budget?.replace(/\.?0+$/, '') ?? '')
  const [billing, setBilling] = useState(before.billing)
  const [isWrong, setIsWrong] = useState(false)
  const change = useChange(money.company.companyId, onClose)
  const submit = () => {
    const typed = budget.trim() === '' ? null : amountIn(budget)
    setIsWrong(typed === undefined)
    if (typed !== undefined) change.mutate({ before, after: { budget: typed, billing } })
  }
  const title = say(isStaff ? 'money.terms.title' : 'money.budget.title', { company: money.company.name })
  return (
    <Dialog title={title} submit={say('app.save')} isBusy={change.isPending} onSubmit={submit} onClose={onClose}>
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <TextInput
        label={say('money.terms.budget', { sign: sign(money.currency) })}
        description={say('money.terms.budgetHint')}
        inputMode="decimal"
        autoComplete="off"
        data-autofocus
        maxLength={20}
        error={isWrong && say('money.problem.amount')}
        value={budget}
        onChange={({ currentTarget }) => setBudget(currentTarget.value)}
      />
      {isStaff && <BillingField value={billing} onChange={setBilling} />}
    </Dialog>
  )
}

function useChange(companyId: number, onClose: () => void) {
  const { say } = useWords()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (form: TermsForm) => ask('PUT', `/money/terms?companyId=${companyId}`, form),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: MONEY })
      tellDone(say('app.saved'))
      onClose()
    },
  })
}

type Billing = (typeof modes)[number]

function BillingField({ value, onChange }: { value: Billing; onChange(billing: Billing): void }) {
  const { say } = useWords()
  return (
    <Radio.Group
      label={say('money.terms.billing')}
      value={value}
      onChange={mode => onChange(oneOf(modes, mode) ?? value)}
    >
      {modes.map(mode => (
        <Radio
          key={mode}
          value={mode}
          size="xs"
          classNames={radio}
          label={say(`money.billing.${mode}`)}
          description={say(`money.billing.${mode}.note`)}
        />
      ))}
    </Radio.Group>
  )
}
