import { Button, NativeSelect, TextInput, UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TariffChange } from '../../../../src/http/cabinet/tariffs/tariffs.ts'
import { ask } from '../../api.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useKept } from '../../parts/forms/kept-form.ts'
import { brandNames } from '../../parts/names/operator-names.ts'
import { describeProblem } from '../../problems.ts'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import {
  modelNames,
  type PricingModel,
  senderTypeNames,
  tomorrowIn,
  trafficTypeNames,
  useTariffNames,
} from '../names.ts'
import {
  problemsOf,
  type StepProblems,
  stepAfter,
  stepsToSend,
  type TypedStep,
  typedStep,
  typedSteps,
} from '../steps/step-editor.ts'
import styles from '../tariffs.module.css'
import { type Place, TARIFFS, type Tariff } from '../tariffs.ts'
import { DayField } from './day-field.tsx'

type Props = {
  partner: { partnerId: number; login: string } | null
  zone: string
  /** The changed tariff and its version. Without them the dialog creates a tariff. */
  tariff?: Tariff
  version?: string
  onClose(): void
}

const NEW_PLACE: Place = { senderType: 'COMMON', brand: null, trafficType: null }

/** Sets a new price from a day on. Earlier prices stay in the history. */
export function ChangeDialog({ partner, zone, tariff, version = '', onClose }: Props) {
  const words = useWords()
  const { say } = words
  const names = useTariffNames()
  const kept = useKept(`tariff ${partner?.partnerId} ${tariff?.tariffId}`, draftOf(tariff, zone))
  const { place, from, model, steps } = kept.draft
  const [isChecked, setIsChecked] = useState(false)
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (change: TariffChange) => ask<void>('POST', '/tariffs/changes', change),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: TARIFFS })
      kept.forget()
      tellDone(say(from === null ? 'tariffs.changed.now' : 'tariffs.changed.later'))
      onClose()
    },
  })
  const edited = model === 'FIXED' ? steps.slice(0, 1) : steps
  const problems = problemsOf(edited, model)
  const submit = () => {
    setIsChecked(true)
    if (problems.some(problem => Object.keys(problem).length > 0)) return
    const { senderType, brand, trafficType } = place
    const changed = { pricingModel: model, steps: stepsToSend(steps, model) }
    const owner = partner ? { partnerId: partner.partnerId } : {}
    save.mutate({ ...owner, senderType, brand, trafficType, from: from || null, version, tariff: changed })
  }
  return (
    <Dialog
      title={tariff ? say('tariffs.change.title') : say('tariffs.add.title')}
      text={tariff ? names.place(tariff) : say(partner ? 'tariffs.add.ownText' : 'tariffs.add.text')}
      submit={say(tariff ? 'tariffs.change' : 'tariffs.add')}
      isBusy={save.isPending}
      kept={kept}
      onSubmit={submit}
      onClose={onClose}
    >
      {save.isError && <FormProblem>{describeProblem(words, save.error)}</FormProblem>}
      {!tariff && <PlaceFields place={place} onChange={place => kept.change({ place })} />}
      <DayField zone={zone} value={from} onChange={from => kept.change({ from })} />
      <NativeSelect
        label={say('tariffs.model')}
        value={model}
        data={modelNames.map(value => ({ value, label: names.model(value) }))}
        onChange={({ currentTarget }) => kept.change({ model: oneOf(modelNames, currentTarget.value) ?? model })}
      />
      <StepFields
        steps={edited}
        model={model}
        problems={isChecked ? problems : []}
        onChange={steps => kept.change({ steps })}
      />
    </Dialog>
  )
}

type Draft = { place: Place; from: string | null; model: PricingModel; steps: TypedStep[] }

const draftOf = (tariff: Tariff | undefined, zone: string): Draft => ({
  place: tariff ? placeOf(tariff) : NEW_PLACE,
  from: tomorrowIn(zone),
  model: tariff?.pricingModel ?? 'FIXED',
  steps: tariff ? typedSteps(tariff) : [typedStep('0')],
})

const placeOf = ({ senderType, brand, trafficType }: Place): Place => ({ senderType, brand, trafficType })

function PlaceFields({ place, onChange }: { place: Place; onChange(place: Place): void }) {
  const { say } = useWords()
  const names = useTariffNames()
  const any = (label: string) => ({ value: '', label })
  return (
    <>
      <NativeSelect
        label={say('tariffs.senderType')}
        value={place.senderType}
        data={senderTypeNames.map(value => ({ value, label: names.senderType(value) }))}
        onChange={({ currentTarget }) =>
          onChange({ ...place, senderType: oneOf(senderTypeNames, currentTarget.value) ?? place.senderType })
        }
      />
      <div className={styles.pair}>
        <NativeSelect
          label={say('tariffs.operator')}
          value={place.brand ?? ''}
          data={[any(names.brand(null)), ...brandNames.map(value => ({ value, label: names.brand(value) }))]}
          onChange={({ currentTarget }) =>
            onChange({ ...place, brand: oneOf(brandNames, currentTarget.value) ?? null })
          }
        />
        <NativeSelect
          label={say('tariffs.traffic')}
          value={place.trafficType ?? ''}
          data={[
            any(names.trafficType(null)),
            ...trafficTypeNames.map(value => ({ value, label: names.trafficType(value) })),
          ]}
          onChange={({ currentTarget }) =>
            onChange({ ...place, trafficType: oneOf(trafficTypeNames, currentTarget.value) ?? null })
          }
        />
      </div>
    </>
  )
}

type StepsProps = {
  steps: TypedStep[]
  model: PricingModel
  problems: StepProblems[]
  onChange(steps: TypedStep[]): void
}

/** One row per tariff step. A fixed price has one step, from the first message on. */
function StepFields({ steps, model, problems, onChange }: StepsProps) {
  const { say } = useWords()
  const isFixed = model === 'FIXED'
  const set = (place: number, change: Partial<TypedStep>) =>
    onChange(steps.map((step, at) => (at === place ? { ...step, ...change } : step)))
  return (
    <div>
      <div className={`${styles.editor} ${isFixed ? styles.fixed : ''} ${model === 'MAU' ? styles.withPackage : ''}`}>
        {!isFixed && <span className={styles.label}>{say('tariffs.from')}</span>}
        <span className={styles.label}>{say('tariffs.price')}</span>
        {model === 'MAU' && <span className={styles.label}>{say('tariffs.package')}</span>}
        {!isFixed && <span />}
        {steps.map((step, place) => (
          <Fields
            key={step.id}
            step={step}
            place={place}
            model={model}
            problem={problems[place] ?? {}}
            onChange={change => set(place, change)}
            onRemove={() => onChange(steps.filter((_, at) => at !== place))}
            isOnly={steps.length === 1}
          />
        ))}
      </div>
      {!isFixed && (
        <Button
          className={styles.more}
          leftSection={<Icon name="plus" />}
          onClick={() => onChange([...steps, stepAfter(steps)])}
        >
          {say('tariffs.addStep')}
        </Button>
      )}
    </div>
  )
}

type FieldsProps = {
  step: TypedStep
  place: number
  model: PricingModel
  problem: StepProblems
  isOnly: boolean
  onChange(change: Partial<TypedStep>): void
  onRemove(): void
}

function Fields({ step, place, model, problem, isOnly, onChange, onRemove }: FieldsProps) {
  const { say } = useWords()
  const field = (name: 'from' | 'price' | 'priceMauBatch', label: string, mode: 'numeric' | 'decimal') => (
    <TextInput
      aria-label={label}
      inputMode={mode}
      autoComplete="off"
      maxLength={20}
      value={step[name]}
      error={problem[name] && say(problem[name])}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  )
  const number = place + 1
  return (
    <>
      {model !== 'FIXED' && field('from', say('tariffs.fromOf', { number }), 'numeric')}
      {field('price', say('tariffs.priceOf', { number }), 'decimal')}
      {model === 'MAU' && field('priceMauBatch', say('tariffs.packageOf', { number }), 'decimal')}
      {model !== 'FIXED' && (
        <UnstyledButton
          className={styles.remove}
          aria-label={say('tariffs.removeStep', { number })}
          disabled={isOnly}
          onClick={onRemove}
        >
          <Icon name="cross" />
        </UnstyledButton>
      )}
    </>
  )
}
