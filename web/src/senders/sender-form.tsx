import { Button, Checkbox, NativeSelect, Radio, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { ClientChannel } from '../../../src/base/channel-types.ts'
import { type Brand, brands } from '../../../src/domain/numbering/brand.ts'
import {
  type CommonType,
  commonTypes,
  isPaidType,
  refuseBadName,
  refuseBadViberName,
} from '../../../src/domain/senders/sender.ts'
import { useFormats } from '../format.ts'
import { numberOf } from '../new-dispatch/offer.ts'
import columns from '../parts/content/columns.module.css'
import { Section } from '../parts/content/section.tsx'
import { choosing } from '../parts/forms/choosing.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import type { Kept } from '../parts/forms/kept-form.ts'
import radio from '../parts/forms/radio-choice.module.css'
import { UnsavedForm } from '../parts/forms/unsaved-form.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { Attachments } from './attachments.tsx'
import type { StoredDocument } from './documents.ts'
import styles from './sender-form.module.css'
import { feesQuery } from './senders.ts'

/** The fields of the request. Channel and operators cannot be changed later. */
export type SenderDraft = {
  channelType: ClientChannel
  senderName: string
  commonType: CommonType
  brands: Brand[]
  description: string
  documents: StoredDocument[]
}

export const emptyDraft: SenderDraft = {
  channelType: 'SMS',
  senderName: '',
  commonType: 'COMMON',
  brands: [...brands],
  description: '',
  documents: [],
}

/** Channels in which a company has its own sender names. */
const channels: ClientChannel[] = ['SMS', 'VIBER', 'WHATSAPP', 'TELEGRAM', 'VK', 'WEASY', 'PUSH']

type Props = {
  companyId: number
  kept: Kept<SenderDraft>
  isNew: boolean
  submit: string
  isBusy: boolean
  error: unknown
  onSubmit(draft: SenderDraft): void
  onCancel(): void
}

/** The request of a sender name, with its documents beside it. */
export function SenderForm({ companyId, kept, isNew, submit, isBusy, error, onSubmit, onCancel }: Props) {
  const words = useWords()
  const { say } = words
  const { draft, change } = kept
  const [isTried, setIsTried] = useState(false)
  const faults = faultsOf(draft)
  const shown = isTried ? faults : {}
  const send = (event: FormEvent) => {
    event.preventDefault()
    setIsTried(true)
    if (Object.keys(faults).length === 0) onSubmit(draft)
  }
  return (
    <form className={`${columns.columns} ${styles.form}`} onSubmit={send} noValidate>
      <div className={styles.fields}>
        <UnsavedForm kept={kept} />
        {error != null && <FormProblem>{describeProblem(words, error)}</FormProblem>}
        {isNew && <ChannelField value={draft.channelType} onChange={channelType => change({ channelType })} />}
        <NameField draft={draft} error={shown.senderName && say(shown.senderName)} change={change} />
        <TypeField draft={draft} onChange={commonType => change({ commonType })} />
        {isNew && needsBrands(draft) && (
          <BrandsField
            companyId={companyId}
            draft={draft}
            error={shown.brands && say(shown.brands)}
            onChange={chosen => change({ brands: chosen })}
          />
        )}
        <DescriptionField value={draft.description} onChange={description => change({ description })} />
      </div>
      <div className={columns.aside}>
        <Section title={say('senders.form.documents')} note={say('senders.form.documents.note')}>
          <Attachments
            companyId={companyId}
            value={draft.documents}
            error={shown.documents && say(shown.documents)}
            onChange={documents => change({ documents })}
          />
        </Section>
      </div>
      <div className={styles.actions}>
        <Button type="submit" variant="filled" loading={isBusy}>
          {submit}
        </Button>
        <Button onClick={onCancel}>{say('app.cancel')}</Button>
      </div>
    </form>
  )
}

type NameProps = { draft: SenderDraft; error: string | undefined; change: Kept<SenderDraft>['change'] }

function NameField({ draft, error, change }: NameProps) {
  const { say } = useWords()
  return (
    <TextInput
      label={say('senders.form.name')}
      description={say(`senders.form.name.${ruleOf(draft.channelType)}`)}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      maxLength={64}
      autoComplete="off"
      spellCheck={false}
      value={draft.senderName}
      error={error}
      onChange={({ currentTarget }) => change({ senderName: currentTarget.value })}
    />
  )
}

function DescriptionField({ value, onChange }: { value: string; onChange(description: string): void }) {
  const { say } = useWords()
  return (
    <Textarea
      label={say('senders.form.description')}
      placeholder={say('senders.form.description.hint')}
      autosize
      minRows={2}
      maxRows={8}
      maxLength={2000}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

const ruleOf = (channelType: ClientChannel) =>
  channelType === 'SMS' || channelType === 'VIBER' ? channelType : 'other'

/** In the other channels, and abroad, one registration is valid for all operators. */
const needsBrands = ({ channelType, commonType }: SenderDraft) =>
  channelType === 'SMS' && !commonType.startsWith('INTERNATIONAL_')

type Faults = {
  senderName?: 'senders.form.name.empty' | 'senders.form.name.bad'
  brands?: 'senders.form.brands.empty'
  documents?: 'senders.form.documents.empty'
}

function faultsOf(draft: SenderDraft): Faults {
  const name = draft.senderName.trim()
  return {
    ...(name === ''
      ? { senderName: 'senders.form.name.empty' }
      : fits(name, draft)
        ? {}
        : { senderName: 'senders.form.name.bad' }),
    ...(needsBrands(draft) && draft.brands.length === 0 ? { brands: 'senders.form.brands.empty' } : {}),
    ...(draft.commonType === 'PROMO' && draft.documents.length === 0
      ? { documents: 'senders.form.documents.empty' }
      : {}),
  }
}

/** Checks by the rules of the server. */
function fits(name: string, draft: SenderDraft): boolean {
  try {
    for (const brand of needsBrands(draft) ? draft.brands : brands.slice(0, 1)) {
      refuseBadName(name, draft.channelType, brand)
    }
    if (draft.channelType === 'VIBER') refuseBadViberName(name)
    return true
  } catch {
    return false
  }
}

function ChannelField({ value, onChange }: { value: ClientChannel; onChange(channel: ClientChannel): void }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  return (
    <NativeSelect
      label={say('senders.form.channel')}
      value={value}
      onChange={({ currentTarget }) => choosing(channels, onChange)(currentTarget.value)}
      data={channels.map(one => ({ value: one, label: channel(one) }))}
    />
  )
}

function TypeField({ draft, onChange }: { draft: SenderDraft; onChange(type: CommonType): void }) {
  const { say } = useWords()
  return (
    <Radio.Group label={say('senders.form.type')} value={draft.commonType} onChange={choosing(commonTypes, onChange)}>
      {[...commonTypes].sort(byUse).map(type => (
        <Radio
          key={type}
          size="xs"
          value={type}
          label={say(`senders.type.${type}`)}
          description={say(`senders.type.${type}.text`)}
          classNames={radio}
        />
      ))}
    </Radio.Group>
  )
}

/** The most frequent value is first. */
const byUse = (a: CommonType, b: CommonType) => Number(b === 'COMMON') - Number(a === 'COMMON')

type BrandsProps = {
  companyId: number
  draft: SenderDraft
  error: string | undefined
  onChange(brands: Brand[]): void
}

function BrandsField({ companyId, draft, error, onChange }: BrandsProps) {
  const { say } = useWords()
  const { money } = useFormats()
  const { operator } = useTrafficNames()
  const { data } = useQuery(feesQuery(companyId))
  const feeOf = (brand: Brand) => {
    if (!data || !isPaidType(draft.commonType)) return undefined
    const fee = data.fees[brand]
    return fee ? say('senders.form.fee', { amount: money(numberOf(fee), data.currency) }) : say('senders.form.free')
  }
  return (
    <Checkbox.Group
      label={say('senders.form.brands')}
      error={error}
      value={draft.brands}
      onChange={chosen => onChange(brands.filter(brand => chosen.includes(brand)))}
    >
      <div className={styles.brands}>
        {brands.map(brand => (
          <Checkbox key={brand} size="xs" value={brand} label={operator(brand)} description={feeOf(brand)} />
        ))}
      </div>
    </Checkbox.Group>
  )
}
