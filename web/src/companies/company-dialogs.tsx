import { NumberInput, SegmentedControl, Switch, TextInput } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CompanyChange, CompanyLimits } from '../../../src/http/cabinet/companies/company-list.ts'
import { ask } from '../api.ts'
import { ConfirmDialog } from '../parts/dialogs/confirm-dialog.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { type Kept, useKept } from '../parts/forms/kept-form.ts'
import { describeProblem } from '../problems.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { BudgetField } from './budget-field.tsx'
import type { CompanyDetails } from './companies.ts'
import { budgetIn } from './company-fields.ts'

type Props = { company: CompanyDetails; onClose(): void }

/** Sends a change and reports its success. The dialog shows a refusal and keeps the typed values. */
function useChange({ onClose }: Props, done: string, forget: () => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ method, path, body }: { method: 'PATCH' | 'PUT'; path: string; body: object }) =>
      ask<void>(method, path, body),
    // Also after a refusal, because another person may have changed the company.
    onSettled: () => client.invalidateQueries(),
    onSuccess: () => {
      tellDone(done)
      forget()
      onClose()
    },
  })
}

/** The company as it was when the dialog opened. A refresh of the page does not change it. */
function useAsOpened(company: CompanyDetails) {
  const [asOpened] = useState(company)
  return asOpened
}

export function EditDialog(props: Props) {
  const words = useWords()
  const { say } = words
  const company = useAsOpened(props.company)
  const kept = useKept(`edit ${company.companyId}`, {
    name: company.name,
    actualAddress: company.actualAddress ?? '',
  })
  const { name, actualAddress } = kept.draft
  const [isEmpty, setIsEmpty] = useState(false)
  const change = useChange(props, say('companies.changed', { name }), kept.forget)
  const submit = () => {
    setIsEmpty(name.trim() === '')
    const { updatedAt } = company
    const body: CompanyChange = { name: name.trim(), actualAddress: actualAddress.trim(), updatedAt }
    if (name.trim() !== '') change.mutate({ method: 'PATCH', path: `/companies/${company.companyId}`, body })
  }
  return (
    <Dialog
      title={say('companies.edit.title', { name: company.name })}
      text={say('companies.edit.text')}
      submit={say('app.save')}
      isBusy={change.isPending}
      kept={kept}
      onSubmit={submit}
      onClose={props.onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <TextInput
        label={say('companies.field.name')}
        data-autofocus
        maxLength={255}
        error={isEmpty && say('companies.field.name.missing')}
        value={name}
        onChange={({ currentTarget }) => kept.change({ name: currentTarget.value })}
      />
      <TextInput
        label={say('companies.field.actualAddress')}
        maxLength={1000}
        value={actualAddress}
        onChange={({ currentTarget }) => kept.change({ actualAddress: currentTarget.value })}
      />
    </Dialog>
  )
}

/** The budget. Staff also set the billing mode, the rate limit, and whether the company gets inbound messages. */
export function LimitsDialog(props: Props) {
  const words = useWords()
  const { say } = words
  const isStaff = useMe().kind === 'STAFF'
  const company = useAsOpened(props.company)
  const kept = useKept(`limits ${company.companyId}`, limitsOf(company))
  const { budget, billing, rate, inbound } = kept.draft
  const change = useChange(props, say('companies.limits.changed', { name: company.name }), kept.forget)
  const submit = () => {
    const { companyId, updatedAt } = company
    const ofStaff = { billing, inbound, partsPerSecond: rate === '' ? null : Number(rate) }
    const body: CompanyLimits = { budget: budgetIn(budget), updatedAt, ...(isStaff ? ofStaff : {}) }
    change.mutate({ method: 'PUT', path: `/companies/${companyId}/limits`, body })
  }
  return (
    <Dialog
      title={say('companies.limits.title', { name: company.name })}
      submit={say('app.save')}
      isBusy={change.isPending}
      kept={kept}
      onSubmit={submit}
      onClose={props.onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <BudgetField value={budget} onChange={budget => kept.change({ budget })} />
      {isStaff && <StaffFields kept={kept} />}
    </Dialog>
  )
}

/** The limits that only staff may change. */
function StaffFields({ kept: { draft, change } }: { kept: Kept<Limits> }) {
  const { say } = useWords()
  const { billing, rate, inbound } = draft
  return (
    <>
      <SegmentedControl<typeof billing>
        fullWidth
        aria-label={say('companies.billing')}
        value={billing}
        onChange={billing => change({ billing })}
        data={(['POSTPAID', 'PREPAID'] as const).map(value => ({
          value,
          label: say(`companies.billing.${value}`),
        }))}
      />
      <NumberInput
        label={say('companies.rate')}
        description={say('companies.rate.note')}
        min={1}
        max={100_000}
        allowDecimal={false}
        allowNegative={false}
        clampBehavior="strict"
        hideControls
        value={rate}
        onChange={rate => change({ rate })}
      />
      <Switch
        label={say('companies.inbound')}
        description={say('companies.inbound.note')}
        checked={inbound}
        onChange={({ currentTarget }) => change({ inbound: currentTarget.checked })}
      />
    </>
  )
}

type Limits = {
  budget: string | number
  billing: NonNullable<CompanyDetails['account']>['billing']
  rate: string | number
  inbound: boolean
}

const limitsOf = ({ account, partsPerSecond, inbound }: CompanyDetails): Limits => ({
  budget: account?.budget ?? '',
  billing: account?.billing ?? 'POSTPAID',
  rate: partsPerSecond ?? '',
  inbound,
})

const EVERYTHING: QueryKey = []

export function StatusDialog(props: Props) {
  const { say } = useWords()
  const { companyId, name, status } = useAsOpened(props.company)
  const isDisabling = status === 'ACTIVE'
  const body = { status: isDisabling ? 'DISABLED' : 'ACTIVE' }
  return (
    <ConfirmDialog
      title={say(isDisabling ? 'companies.disable.title' : 'companies.enable.title', { name })}
      text={say(isDisabling ? 'companies.disable.text' : 'companies.enable.text')}
      submit={say(isDisabling ? 'companies.disable' : 'companies.enable')}
      isDangerous={isDisabling}
      change={() => ask<void>('PUT', `/companies/${companyId}/status`, body)}
      stale={[EVERYTHING]}
      done={say(isDisabling ? 'companies.disabled' : 'companies.enabled', { name })}
      onClose={props.onClose}
    />
  )
}
