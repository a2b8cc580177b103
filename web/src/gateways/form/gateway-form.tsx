import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { CompaniesAnswer } from '../../../../src/http/cabinet/companies/companies.ts'
import { ask } from '../../api.ts'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import type { Kept } from '../../parts/forms/kept-form.ts'
import { UnsavedForm } from '../../parts/forms/unsaved-form.tsx'
import { operatorNames } from '../../parts/names/operator-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../gateways.module.css'
import type { Connector, Field } from '../gateways.ts'
import type { FieldProblem } from '../problems.ts'
import { type Setting, SettingInput, type Settings } from './setting-input.tsx'

export type BrandName = (typeof operatorNames)[number]

export type Company = { companyId: number; name: string }

/** The values of the form. A setting that is not in the form does not change. */
export type Draft = {
  name: string
  brands: BrandName[]
  rate: number | null
  companies: Company[]
  settings: Settings
}

type Props = {
  connector: Connector
  kept: Kept<Draft>
  /** Names of the secrets that have a value. The server never sends the values. */
  secrets: string[]
  submit: string
  isBusy: boolean
  problem: FieldProblem | undefined
  onSubmit(draft: Draft): void
  onCancel(): void
}

/** The catalogue of connectors defines the fields. The message of a refusal stands below the field that it names. */
export function GatewayForm(props: Props) {
  const { connector, kept, secrets, submit, isBusy, problem, onSubmit, onCancel } = props
  const { say } = useWords()
  const [missing, setMissing] = useState<string[]>([])
  const form = useFocusOnProblem(problem, missing)
  const isKnown = ['name', ...connector.fields.map(({ name }) => name)].includes(problem?.field ?? '')
  const problemOf = (field: string) => {
    if (missing.includes(field)) return say('gateway.problem.missing')
    return problem?.field === field ? problem.text : undefined
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    const left = missingIn(connector, kept.draft, secrets)
    setMissing(left)
    if (left.length === 0) onSubmit(kept.draft)
  }
  return (
    <form ref={form} className={styles.form} onSubmit={send} noValidate>
      <UnsavedForm kept={kept} />
      <CommonFields kept={kept} problem={problemOf('name')} />
      <SettingFields connector={connector} kept={kept} secrets={secrets} problemOf={problemOf} />
      {problem && !isKnown && <FormProblem>{problem.text}</FormProblem>}
      <div className={styles.buttons}>
        <Button type="submit" variant="filled" loading={isBusy}>
          {submit}
        </Button>
        <Button onClick={onCancel}>{say('app.cancel')}</Button>
      </div>
    </form>
  )
}

/** Focuses the first invalid field of the form after each new problem. */
function useFocusOnProblem(problem: FieldProblem | undefined, missing: string[]) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (problem || missing.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [problem?.text, missing])
  return form
}

/** The fields that every gateway has. */
function CommonFields({ kept: { draft, change }, problem }: Pick<Props, 'kept'> & { problem: string | undefined }) {
  const { say } = useWords()
  return (
    <div className={styles.fields}>
      <TextInput
        label={say('gateway.form.name')}
        error={problem}
        maxLength={100}
        value={draft.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
      />
      <NumberInput
        label={say('gateway.form.rate')}
        placeholder={say('gateway.limit.none')}
        min={1}
        max={1_000_000}
        allowDecimal={false}
        hideControls
        value={draft.rate ?? ''}
        onChange={value => change({ rate: value === '' ? null : Number(value) })}
      />
      <Brands chosen={draft.brands} onChange={brands => change({ brands })} />
      <Companies chosen={draft.companies} onChange={companies => change({ companies })} />
    </div>
  )
}

type SettingProps = Pick<Props, 'connector' | 'kept' | 'secrets'> & { problemOf(field: string): string | undefined }

/** The fields of the connector. Rarely used fields are folded. */
function SettingFields({ connector, kept: { draft, change }, secrets, problemOf }: SettingProps) {
  const { say } = useWords()
  const fieldOf = (field: Field) => (
    <SettingInput
      key={field.name}
      field={field}
      value={draft.settings[field.name]}
      isSecret={connector.secrets.includes(field.name)}
      isSet={secrets.includes(field.name)}
      problem={problemOf(field.name)}
      onChange={(value: Setting) => change({ settings: { ...draft.settings, [field.name]: value } })}
    />
  )
  const usual = connector.fields.filter(({ isRare }) => !isRare)
  const rare = connector.fields.filter(({ isRare }) => isRare)
  return (
    <>
      <fieldset className={styles.group}>
        <legend className={styles.legend}>{say('gateway.form.settings')}</legend>
        <div className={styles.fields}>{usual.map(fieldOf)}</div>
      </fieldset>
      {rare.length > 0 && (
        <details className={styles.more} open={rare.some(({ name }) => problemOf(name)) || undefined}>
          <summary>{say('gateway.form.more', { count: rare.length })}</summary>
          <div className={styles.fields}>{rare.map(fieldOf)}</div>
        </details>
      )}
    </>
  )
}

/** The required fields that are empty. A secret that has a stored value may stay empty. */
function missingIn({ fields }: Connector, { name, settings }: Draft, secrets: string[]): string[] {
  const isEmpty = (value: Setting) => String(value ?? '').trim() === ''
  const left = fields.filter(
    field => field.isRequired && !secrets.includes(field.name) && isEmpty(settings[field.name]),
  )
  return [...(isEmpty(name) ? ['name'] : []), ...left.map(field => field.name)]
}

function Brands({ chosen, onChange }: { chosen: BrandName[]; onChange(brands: BrandName[]): void }) {
  const { say } = useWords()
  const toggle = (brand: BrandName) =>
    onChange(chosen.includes(brand) ? chosen.filter(one => one !== brand) : [...chosen, brand])
  return (
    <fieldset className={`${styles.group} ${styles.whole}`}>
      <legend className={styles.legend}>{say('gateway.form.operators')}</legend>
      <div className={styles.checks}>
        {operatorNames.map(brand => (
          <label key={brand}>
            <input type="checkbox" checked={chosen.includes(brand)} onChange={() => toggle(brand)} />
            {say(`operator.${brand}`)}
          </label>
        ))}
      </div>
      <p className="note">{say('gateway.form.operators.note')}</p>
    </fieldset>
  )
}

type CompaniesProps = { chosen: Company[]; onChange(companies: Company[]): void }

/** The companies that may use the sender names of this gateway without registration. */
function Companies({ chosen, onChange }: CompaniesProps) {
  const { say } = useWords()
  const [search, setSearch] = useState('')
  const { data } = useQuery({
    queryKey: ['companies', 'for gateway', search],
    queryFn: () => ask<CompaniesAnswer>('GET', `/companies?search=${encodeURIComponent(search)}`),
    enabled: search.trim().length > 0,
  })
  const offered = (data?.items ?? []).filter(({ companyId }) => !chosen.some(one => one.companyId === companyId))
  const add = (companyId: number) => {
    const found = offered.find(company => company.companyId === companyId)
    if (found) onChange([...chosen, { companyId, name: found.name }])
    setSearch('')
  }
  return (
    <fieldset className={`${styles.group} ${styles.whole}`}>
      <legend className={styles.legend}>{say('gateway.form.companies')}</legend>
      <p className="note">{say('gateway.form.companies.note')}</p>
      <ChosenCompanies chosen={chosen} onChange={onChange} />
      <div className={styles.fields}>
        <TextInput
          aria-label={say('company.find')}
          placeholder={say('company.find')}
          value={search}
          maxLength={100}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {offered.length > 0 && (
          <NativeSelect
            aria-label={say('gateway.form.companies.choose')}
            value=""
            onChange={({ currentTarget }) => add(Number(currentTarget.value))}
          >
            <option value="">{say('gateway.form.companies.choose')}</option>
            {offered.map(({ companyId, name }) => (
              <option key={companyId} value={companyId}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </div>
    </fieldset>
  )
}

function ChosenCompanies({ chosen, onChange }: CompaniesProps) {
  if (chosen.length === 0) return null
  return (
    <div className={styles.checks}>
      {chosen.map(({ companyId, name }) => (
        <label key={companyId}>
          <input type="checkbox" checked onChange={() => onChange(chosen.filter(one => one.companyId !== companyId))} />
          {name}
        </label>
      ))}
    </div>
  )
}
