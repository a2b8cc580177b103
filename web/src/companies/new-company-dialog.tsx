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
import { useCompanyForm } from './company-fields.ts'

/** Creates a company and opens its page. Staff choose its partner. */
export function NewCompanyDialog({ onClose }: { onClose(): void }) {
  const words = useWords()
  const { say } = words
  const isStaff = useMe().kind === 'STAFF'
  const { kept, form, mistakes, set, read } = useCompanyForm(isStaff)
  const navigate = useNavigate()
  const client = useQueryClient()
  const create = useMutation({
    mutationFn: (company: NewCompany) => ask<{ companyId: number }>('POST', '/companies', company),
    onSuccess: ({ companyId }, { name }) => {
      kept.forget()
      void client.invalidateQueries()
      tellDone(say('companies.made', { name }))
      const search = { company: companyId } as never
      void navigate({ to: '/companies/$companyId', params: { companyId }, search })
    },
  })
  const submit = () => {
    const company = read()
    if (company) create.mutate(company)
  }
  const mistakeOf = (field: keyof typeof form) => mistakes[field] && say(mistakes[field] as 'companies.field.inn.wrong')
  const text = (field: 'name' | 'counteragentInn' | 'counteragentKpp' | 'counteragentAddress') => ({
    value: form[field] ?? '',
    error: mistakeOf(field),
    autoComplete: 'off',
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) => set(field, currentTarget.value),
  })
  const optional = (label: string) => `${label}, ${say('people.invite.optional')}`
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
      {isStaff && (
        <PartnerChoice
          label={say('companies.field.partner')}
          placeholder={say('companies.field.partner.choose')}
          nothingFoundMessage={say('companies.field.partner.none')}
          isActive
          value={Number(form.partnerId) || undefined}
          error={mistakeOf('partnerId')}
          onChange={partnerId => set('partnerId', String(partnerId ?? ''))}
        />
      )}
      <SegmentedControl
        fullWidth
        aria-label={say('companies.field.type')}
        value={form.counteragentType}
        onChange={value => set('counteragentType', value as NewCompany['counteragentType'])}
        data={(['LEGAL', 'INDIVIDUAL'] as const).map(value => ({ value, label: say(`companies.type.${value}`) }))}
      />
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
      <BudgetField value={form.budget} onChange={budget => set('budget', budget)} />
    </Dialog>
  )
}
