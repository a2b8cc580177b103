import { Button, NativeSelect, Radio, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { type ClientChannel, type TrafficType, trafficTypes } from '../../../src/base/channel-types.ts'
import { MOST_PATTERN_CHARACTERS } from '../../../src/domain/templates/pattern.ts'
import columns from '../parts/content/columns.module.css'
import { choosing } from '../parts/forms/choosing.ts'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import type { Kept } from '../parts/forms/kept-form.ts'
import radio from '../parts/forms/radio-choice.module.css'
import { UnsavedForm } from '../parts/forms/unsaved-form.tsx'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { describeProblem } from '../problems.ts'
import fields from '../senders/sender-form.module.css'
import { useWords } from '../words/words.ts'
import { isPattern, PatternTrial } from './pattern-trial.tsx'
import styles from './template-form.module.css'
import { templateNamesQuery } from './templates.ts'

export type TemplateDraft = {
  channelType: ClientChannel
  templateType: TrafficType
  pattern: string
  senderId: number | null
  content: { name: string; language: string } | null
}

export const emptyDraft: TemplateDraft = {
  channelType: 'SMS',
  templateType: 'TRANSACT',
  pattern: '',
  senderId: null,
  content: null,
}

const channels: ClientChannel[] = ['SMS', 'VIBER', 'WHATSAPP', 'TELEGRAM', 'VK', 'WEASY', 'PUSH']

type Props = {
  companyId: number
  kept: Kept<TemplateDraft>
  isNew: boolean
  submit: string
  isBusy: boolean
  error: unknown
  onSubmit(draft: TemplateDraft): void
  onCancel(): void
}

/** The request of a template, with a matching example beside it. */
export function TemplateForm({ companyId, kept, isNew, submit, isBusy, error, onSubmit, onCancel }: Props) {
  const words = useWords()
  const { say } = words
  const { draft, change } = kept
  const [isTried, setIsTried] = useState(false)
  const fault = faultOf(draft)
  const send = (event: FormEvent) => {
    event.preventDefault()
    setIsTried(true)
    if (!fault) onSubmit(draft)
  }
  return (
    <form className={`${columns.columns} ${fields.form}`} onSubmit={send} noValidate>
      <div className={fields.fields}>
        <UnsavedForm kept={kept} />
        {error != null && <FormProblem>{describeProblem(words, error)}</FormProblem>}
        {isNew && (
          <ChannelField
            value={draft.channelType}
            onChange={channelType => change({ channelType, senderId: null, content: null })}
          />
        )}
        <PatternField
          value={draft.pattern}
          error={isTried && fault ? say(fault) : undefined}
          onChange={pattern => change({ pattern })}
        />
        <TypeField value={draft.templateType} onChange={templateType => change({ templateType })} />
        <SenderField companyId={companyId} draft={draft} onChange={senderId => change({ senderId })} />
        {draft.channelType === 'WHATSAPP' && (
          <ContentField value={draft.content} onChange={content => change({ content })} />
        )}
      </div>
      <div className={columns.aside}>
        <PatternTrial pattern={draft.pattern} />
      </div>
      <div className={fields.actions}>
        <Button type="submit" variant="filled" loading={isBusy}>
          {submit}
        </Button>
        <Button onClick={onCancel}>{say('app.cancel')}</Button>
      </div>
    </form>
  )
}

function faultOf({ pattern }: TemplateDraft) {
  if (pattern.trim() === '') return 'templates.form.pattern.empty'
  if (!isPattern(pattern)) return 'templates.form.badPlace'
}

type ChannelProps = { value: ClientChannel; onChange(channelType: ClientChannel): void }

function ChannelField({ value, onChange }: ChannelProps) {
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

function TypeField({ value, onChange }: { value: TrafficType; onChange(templateType: TrafficType): void }) {
  const { say } = useWords()
  return (
    <Radio.Group label={say('templates.type')} value={value} onChange={choosing(trafficTypes, onChange)}>
      {trafficTypes.map(type => (
        <Radio
          key={type}
          size="xs"
          value={type}
          label={say(`templates.type.${type}`)}
          description={say(`templates.type.${type}.text`)}
          classNames={radio}
        />
      ))}
    </Radio.Group>
  )
}

const places = [
  ['%w', 'templates.place.word'],
  ['%w{1,5}', 'templates.place.words'],
  ['%d', 'templates.place.number'],
  ['%d{1,6}', 'templates.place.digits'],
] as const

type PatternProps = { value: string; error: string | undefined; onChange(pattern: string): void }

/** The text, and buttons that insert places at the cursor. */
function PatternField({ value, error, onChange }: PatternProps) {
  const { say } = useWords()
  const area = useRef<HTMLTextAreaElement>(null)
  const put = (place: string) => {
    if (!area.current) return
    const { selectionStart: from, selectionEnd: to } = area.current
    onChange(`${value.slice(0, from)}${place}${value.slice(to)}`)
    area.current.focus()
  }
  return (
    <>
      <Textarea
        ref={area}
        label={say('templates.form.pattern')}
        placeholder={say('templates.form.pattern.example')}
        autosize
        minRows={3}
        maxRows={12}
        maxLength={MOST_PATTERN_CHARACTERS}
        value={value}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div className={styles.places}>
        {say('templates.form.places')}
        {places.map(([place, name]) => (
          <Button key={place} size="compact-xs" onClick={() => put(place)}>
            {say(name)}
          </Button>
        ))}
      </div>
    </>
  )
}

type SenderProps = { companyId: number; draft: TemplateDraft; onChange(senderId: number | null): void }

function SenderField({ companyId, draft, onChange }: SenderProps) {
  const { say } = useWords()
  const { data } = useQuery(templateNamesQuery(companyId))
  const names = data?.names.filter(({ channelType }) => channelType === draft.channelType) ?? []
  return (
    <NativeSelect
      label={say('templates.form.sender')}
      value={draft.senderId ?? ''}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value) || null)}
      data={[
        { value: '', label: say('templates.anyName') },
        ...names.map(({ senderId, senderName }) => ({ value: String(senderId), label: senderName })),
      ]}
    />
  )
}

type ContentProps = { value: TemplateDraft['content']; onChange(content: TemplateDraft['content']): void }

/** For WhatsApp: the template at Meta that is sent instead of the text. */
function ContentField({ value, onChange }: ContentProps) {
  const { say } = useWords()
  const { name, language } = value ?? { name: '', language: 'ru' }
  const change = (content: { name: string; language: string }) => onChange(content.name.trim() === '' ? null : content)
  return (
    <div>
      <h3>{say('templates.form.content')}</h3>
      <div className={styles.two}>
        <TextInput
          label={say('templates.form.content.name')}
          maxLength={512}
          value={name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value, language })}
        />
        <TextInput
          label={say('templates.form.content.language')}
          maxLength={10}
          value={language}
          onChange={({ currentTarget }) => change({ name, language: currentTarget.value })}
        />
      </div>
    </div>
  )
}
