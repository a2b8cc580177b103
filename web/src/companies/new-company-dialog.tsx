import { SegmentedControl, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { NewCompany } from '../../../src/http/cabinet/companies/company-list.ts'
import { ask } from '../api.ts'
import { PartnerChoice } from '../partners/partner-choice.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { BudgetField } from './budget-field.tsx'
import styles from './companies.module.css'
import { type CompanyForm, useCompanyForm } from './company-fields.ts'

/** Creates a company and opens its page. Staff choose its partner. */
export function NewCompanyDialog({ onClose }: { onClose(): void }) {
  const words = useWords()
  const { say } = words
  const isStaff = useMe().kind === 'STAFF'
  const company = useCompanyForm(isStaff)
  const { kept, form, set, read } = company
  const create = useCreate(kept.forget)
  const submit = () => {
    const given = read()
    if (given) create.mutate(given)
  }
  return (
    <Dialog
      title={say('companies.new')}
      submit={say('companies.new.submit')}
      isBusy={create.isPending}
      kept={kept}
      onSubmit={submit}
      onClose={onClose}
    >
      {create.isError && <FormProblem>{describeProblem(words, create.error)}</FormProblem>}
      {isStaff && <PartnerField company={company} />}
      <SegmentedControl<CompanyForm['counteragentType']>
        fullWidth
        aria-label={say('companies.field.type')}
        value={form.counteragentType}
        onChange={value => set('counteragentType', value)}
        data={(['LEGAL', 'INDIVIDUAL'] as const).map(value => ({ value, label: say(`companies.type.${value}`) }))}
      />
      <TextFields company={company} />
      <BudgetField value={form.budget} onChange={budget => set('budget', budget)} />
    </Dialog>
  )
}

function useCreate(forget: () => void) {
  const { say } = useWords()
  const navigate = useNavigate()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (company: NewCompany) => ask<{ companyId: number }>('POST', '/companies', company),
    onSuccess: ({ companyId }, { name }) => {
      forget()
      void client.invalidateQueries()
      tellDone(say('companies.made', { name }))
      void navigate({ to: '/companies/$companyId', params: { companyId }, search: { company: companyId } })
    },
  })
}

type FieldProps = { company: ReturnType<typeof useCompanyForm> }

function PartnerField({ company: { form, mistakes, set } }: FieldProps) {
  const { say } = useWords()
  return (
    <PartnerChoice
      label={say('companies.field.partner')}
      placeholder={say('companies.field.partner.choose')}
      nothingFoundMessage={say('companies.field.partner.none')}
      isActive
      value={Number(form.partnerId) || undefined}
      error={mistakes.partnerId && say(mistakes.partnerId)}
      onChange={partnerId => set('partnerId', String(partnerId ?? ''))}
    />
  )
}

function TextFields({ company: { form, mistakes, set } }: FieldProps) {
  const { say } = useWords()
  const text = (field: 'name' | 'counteragentInn' | 'counteragentKpp' | 'counteragentAddress') => ({
    value: form[field] ?? '',
    error: mistakes[field] && say(mistakes[field]),
    autoComplete: 'off',
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) => set(field, currentTarget.value),
  })
  const optional = (label: string) => `${label}, ${say('people.invite.optional')}`
  return (
    <>
      <TextInput label={say('companies.field.name')} data-autofocus maxLength={255} {...text('name')} />
      <div className={styles.two}>
        <TextInput
          label={say('companies.field.inn')}
          description={say('companies.field.inn.note')}
          inputMode="numeric"
          maxLength={12}
          {...text('counteragentInn')}
        />
        {form.counteragentType === 'LEGAL' && (
          <TextInput
            label={optional(say('companies.field.kpp'))}
            inputMode="numeric"
            maxLength={20}
            {...text('counteragentKpp')}
          />
        )}
      </div>
      <TextInput label={optional(say('companies.field.address'))} maxLength={1000} {...text('counteragentAddress')} />
    </>
  )
}
