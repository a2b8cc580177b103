import { Button, NativeSelect, TextInput, UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { VirtualOperator } from '../../../src/http/cabinet/service/numbering.ts'
import { ask } from '../api.ts'
import { Icon } from '../parts/content/icon.tsx'
import { Section } from '../parts/content/section.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { brandIds, useBrand } from './brands.ts'
import styles from './numbering.module.css'
import { NUMBERING, type Numbering } from './numbering.ts'

type Operator = Numbering['virtual'][number]

/** Virtual operators, each with the brand that carries it. */
export function VirtualOperators({ data, mayChange }: { data: Numbering; mayChange: boolean }) {
  const { say } = useWords()
  const brand = useBrand()
  const [edited, setEdited] = useState<Operator | 'new'>()
  return (
    <Section title={say('numbering.virtual')}>
      <p className="note">{say('numbering.virtual.note')}</p>
      <ul className={styles.virtual}>
        {data.virtual.map(operator => (
          <li key={operator.inn}>
            <span className={styles.name}>{operator.name}</span>
            <span>{brand(operator.brandId)}</span>
            {mayChange && (
              <UnstyledButton
                className="link"
                aria-label={say('numbering.virtual.changeOf', { name: operator.name })}
                onClick={() => setEdited(operator)}
              >
                {say('numbering.virtual.change')}
              </UnstyledButton>
            )}
          </li>
        ))}
      </ul>
      {mayChange && (
        <Button leftSection={<Icon name="plus" />} onClick={() => setEdited('new')}>
          {say('numbering.virtual.add')}
        </Button>
      )}
      {edited && (
        <OperatorDialog operator={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  )
}

function OperatorDialog({ operator, onClose }: { operator: Operator | undefined; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const brand = useBrand()
  const [inn, setInn] = useState(operator?.inn ?? '')
  const [name, setName] = useState(operator?.name ?? '')
  const [brandId, setBrandId] = useState(operator?.brandId ?? 1)
  const [isChecked, setIsChecked] = useState(false)
  const save = useSave(onClose)
  const submit = () => {
    setIsChecked(true)
    if (!isInn(inn) || name.trim() === '') return
    save.mutate({ inn: inn.trim(), name: name.trim(), brandId, before: operator?.brandId ?? null })
  }
  return (
    <Dialog
      title={operator ? operator.name : say('numbering.virtual.add')}
      submit={say('app.save')}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {save.isError && <FormProblem>{describeProblem(words, save.error)}</FormProblem>}
      {!operator && (
        <>
          <InnField value={inn} isChecked={isChecked} onChange={setInn} />
          <NameField value={name} isChecked={isChecked} onChange={setName} />
        </>
      )}
      <NativeSelect
        label={say('numbering.network')}
        value={brandId}
        data={brandIds.map(value => ({ value: String(value), label: brand(value) }))}
        onChange={({ currentTarget }) => setBrandId(Number(currentTarget.value))}
      />
    </Dialog>
  )
}

const isInn = (text: string) => /^(\d{10}|\d{12})$/.test(text.trim())

function useSave(onClose: () => void) {
  const { say } = useWords()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (saved: VirtualOperator) => ask<void>('PUT', '/numbering/virtual-operators', saved),
    onSuccess: async (_, { name }) => {
      await client.invalidateQueries({ queryKey: NUMBERING })
      tellDone(say('numbering.virtual.saved', { name }))
      onClose()
    },
  })
}

type FieldProps = { value: string; isChecked: boolean; onChange(value: string): void }

function InnField({ value, isChecked, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <TextInput
      label={say('numbering.inn')}
      inputMode="numeric"
      data-autofocus
      maxLength={12}
      value={value}
      error={isChecked && !isInn(value) && say('numbering.inn.problem')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

function NameField({ value, isChecked, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <TextInput
      label={say('numbering.legalName')}
      maxLength={200}
      value={value}
      error={isChecked && value.trim() === '' && say('numbering.legalName.problem')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
