import { useState } from 'react'
import { isInn } from '../../../src/base/inn.ts'
import type { NewCompany } from '../../../src/http/cabinet/companies/company-list.ts'
import { useKept } from '../parts/forms/kept-form.ts'
import type { Key } from '../words/dictionary.ts'

/** The values of a form while a person fills it in. A budget may be empty. */
export type CompanyForm = Omit<NewCompany, 'budget' | 'partnerId'> & { budget: string | number; partnerId: string }

const blank: CompanyForm = {
  partnerId: '',
  name: '',
  counteragentType: 'LEGAL',
  counteragentInn: '',
  counteragentKpp: '',
  counteragentAddress: '',
  budget: '',
}

type Mistake = Extract<Key, `companies.field.${string}.${'missing' | 'wrong' | 'digits'}`>
type Mistakes = Partial<Record<keyof CompanyForm, Mistake>>

export function useCompanyForm(needsPartner: boolean) {
  const kept = useKept('new company', blank)
  const { draft: form } = kept
  const [mistakes, setMistakes] = useState<Mistakes>({})
  const set = <Field extends keyof CompanyForm>(field: Field, value: CompanyForm[Field]) => {
    kept.change(now => ({ ...now, [field]: value }))
    setMistakes(before => ({ ...before, [field]: undefined }))
  }
  /** The company to send. While a value is invalid it returns undefined and the fields show the mistakes. */
  const read = (): NewCompany | undefined => {
    const found = mistakesIn(form, needsPartner)
    setMistakes(found)
    return Object.keys(found).length > 0 ? undefined : companyIn(form, needsPartner)
  }
  return { kept, form, mistakes, set, read }
}

function mistakesIn({ name, counteragentInn, partnerId }: CompanyForm, needsPartner: boolean): Mistakes {
  return {
    ...(name.trim() === '' ? { name: 'companies.field.name.missing' as const } : {}),
    ...innMistake(counteragentInn.trim()),
    ...(needsPartner && partnerId === '' ? { partnerId: 'companies.field.partner.missing' as const } : {}),
  }
}

function innMistake(inn: string): Mistakes {
  if (!/^(\d{10}|\d{12})$/.test(inn)) return { counteragentInn: 'companies.field.inn.wrong' }
  return isInn(inn) ? {} : { counteragentInn: 'companies.field.inn.digits' }
}

/** Leaves out empty fields. Only a legal entity has a KPP. */
function companyIn(form: CompanyForm, needsPartner: boolean): NewCompany {
  const { counteragentType } = form
  const address = form.counteragentAddress?.trim()
  const kpp = counteragentType === 'LEGAL' ? form.counteragentKpp?.trim() : ''
  return {
    name: form.name.trim(),
    counteragentType,
    counteragentInn: form.counteragentInn.trim(),
    budget: budgetIn(form.budget),
    ...(address ? { counteragentAddress: address } : {}),
    ...(kpp ? { counteragentKpp: kpp } : {}),
    ...(needsPartner ? { partnerId: Number(form.partnerId) } : {}),
  }
}

/** Empty means no limit. */
export const budgetIn = (typed: string | number): number | null => (typed === '' ? null : Number(typed))
