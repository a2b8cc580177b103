import { NativeSelect, Radio, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewKey, ShownKeyAnswer } from '../../../../src/http/cabinet/developers/keys.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import radio from '../../parts/forms/radio-choice.module.css'
import { describeProblem } from '../../problems.ts'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import { type ApiKey, addressesIn, KEYS, type Keys, keyPath, kinds, useAddressProblem } from './keys.ts'
import { ShownKeyDialog } from './shown-key-dialog.tsx'

type Props = { companyId: number; keys: Keys; onClose(): void }

/** Creates a key and shows its value. The server never shows it again. */
export function NewKeyDialog({ companyId, keys, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const [type, setType] = useState<ApiKey['type']>('MESSAGE')
  const [name, setName] = useState('')
  const [center, setCenter] = useState('')
  const [addresses, setAddresses] = useState('')
  const addressProblem = useAddressProblem()
  const client = useQueryClient()
  const make = useMutation({
    mutationFn: (wanted: NewKey) => ask<ShownKeyAnswer>('POST', keyPath(companyId), wanted),
    onSuccess: () => client.invalidateQueries({ queryKey: KEYS }),
  })
  if (make.data) return <ShownKeyDialog shown={make.data} type={type} trial={keys.trial} onClose={onClose} />

  const submit = () =>
    make.mutate({
      type,
      name: name.trim(),
      addresses: addressesIn(addresses),
      ...(type === 'MESSAGE' && center ? { center } : {}),
    })
  const ofAddresses = make.isError ? addressProblem(make.error) : undefined
  return (
    <Dialog
      title={say('keys.new.title')}
      submit={say('keys.new.submit')}
      isBusy={make.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {make.isError && !ofAddresses && <FormProblem>{describeProblem(words, make.error)}</FormProblem>}
      <NameField value={name} onChange={setName} />
      <KindField value={type} onChange={setType} />
      {type === 'MESSAGE' && keys.centers.length > 1 && (
        <NativeSelect
          label={say('keys.new.center')}
          value={center || keys.centers[0]}
          data={keys.centers}
          onChange={({ currentTarget }) => setCenter(currentTarget.value)}
        />
      )}
      <AddressField value={addresses} problem={ofAddresses} onChange={setAddresses} />
    </Dialog>
  )
}

function KindField({ value, onChange }: { value: ApiKey['type']; onChange(kind: ApiKey['type']): void }) {
  const { say } = useWords()
  return (
    <Radio.Group label={say('keys.new.kind')} value={value} onChange={kind => onChange(oneOf(kinds, kind) ?? value)}>
      {kinds.map(kind => (
        <Radio
          key={kind}
          size="xs"
          value={kind}
          label={say(`keys.kind.${kind}`)}
          description={say(`keys.kind.${kind}.text`)}
          classNames={radio}
        />
      ))}
    </Radio.Group>
  )
}

export function NameField({ value, onChange }: { value: string; onChange(name: string): void }) {
  const { say } = useWords()
  return (
    <TextInput
      label={say('keys.new.name')}
      autoComplete="off"
      data-autofocus
      maxLength={100}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

type FieldProps = { value: string; problem: string | undefined; onChange(text: string): void }

/** The addresses from which a key may be used. */
export function AddressField({ value, problem, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <Textarea
      label={say('keys.addresses')}
      description={say('keys.addresses.text')}
      rows={3}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      error={problem}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
