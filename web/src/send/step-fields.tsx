import { NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core'
import { type ClientChannel, channelTypes } from '../../../src/base/channel-types.ts'
import { namesIn, needsApproval, type Offer } from '../new-dispatch/offer.ts'
import { measure, mostIn } from '../new-dispatch/text/message-text.ts'
import columns from '../parts/content/columns.module.css'
import { choosing } from '../parts/forms/choosing.ts'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'
import styles from './send.module.css'
import { emptyStep, type PricedStep, type StepDraft } from './send.ts'

type Props = {
  step: StepDraft
  offer: Offer
  priced: PricedStep | undefined
  channels?: readonly ClientChannel[]
  isLast: boolean
  onChange(part: Partial<StepDraft>): void
}

/** The channel, name and content of one step. Every step except the last also has the condition for the next step. */
export function StepFields({ step, offer, priced, channels = channelTypes, isLast, onChange }: Props) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const choose = (channelType: ClientChannel) =>
    onChange({ ...emptyStep(channelType), text: step.text, minutes: step.minutes, condition: step.condition })
  return (
    <div className={styles.step}>
      <div className={columns.two}>
        <NativeSelect
          label={say('send.channel')}
          value={step.channelType}
          data={channels.map(type => ({ value: type, label: channel(type) }))}
          onChange={({ currentTarget }) => choosing(channels, choose)(currentTarget.value)}
        />
        <SenderField step={step} offer={offer} onChange={onChange} />
      </div>
      <Textarea
        label={say(step.channelType === 'FLASHCALL' ? 'send.text.flashcall' : 'send.text')}
        description={<Counter step={step} />}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        autosize
        minRows={step.channelType === 'FLASHCALL' ? 1 : 3}
        maxRows={12}
        maxLength={step.channelType === 'FLASHCALL' ? 4 : 10_000}
        value={step.text}
        error={priced && 'refusal' in priced ? priced.refusal : undefined}
        onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
      />
      {step.channelType === 'VIBER' && <ViberFields step={step} onChange={onChange} />}
      {!isLast && <NextStep step={step} onChange={onChange} />}
    </div>
  )
}

type FieldProps = Pick<Props, 'step' | 'onChange'>

/** A person chooses among approved names, or in other channels types any name. */
function SenderField({ step: { channelType, senderName }, offer, onChange }: FieldProps & Pick<Props, 'offer'>) {
  const { say } = useWords()
  if (!needsApproval(channelType)) {
    return (
      <TextInput
        label={say('send.sender')}
        description={channelType === 'TEXT_TO_SPEECH' ? say('send.sender.number') : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        maxLength={64}
        readOnly={channelType === 'VOICECODE'}
        value={senderName}
        onChange={({ currentTarget }) => onChange({ senderName: currentTarget.value })}
      />
    )
  }
  const names = namesIn(offer, channelType).filter(({ registrations }) => registrations.some(one => one.isUsable))
  const shared = channelType === 'SMS' ? [offer.shared.senderName] : []
  return (
    <NativeSelect
      label={say('send.sender')}
      description={names.length + shared.length === 0 ? say('send.sender.none') : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[
        { value: '', label: say('send.sender.choose'), disabled: true },
        ...names.map(name => ({ value: name.senderName, label: name.senderName })),
        ...shared.map(name => ({ value: name, label: say('new.sender.shared', { name }) })),
      ]}
      value={senderName}
      onChange={({ currentTarget }) => onChange({ senderName: currentTarget.value })}
    />
  )
}

function ViberFields({ step: { image, buttonText, buttonUrl }, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <div className={columns.two}>
      <TextInput
        label={say('send.viber.image')}
        placeholder="https://"
        type="url"
        maxLength={2048}
        value={image}
        onChange={({ currentTarget }) => onChange({ image: currentTarget.value })}
      />
      <TextInput
        label={say('send.viber.button')}
        maxLength={30}
        value={buttonText}
        onChange={({ currentTarget }) => onChange({ buttonText: currentTarget.value })}
      />
      <TextInput
        label={say('send.viber.buttonUrl')}
        placeholder="https://"
        type="url"
        maxLength={2048}
        value={buttonUrl}
        onChange={({ currentTarget }) => onChange({ buttonUrl: currentTarget.value })}
      />
    </div>
  )
}

const MOST_MINUTES = 1440

const conditions = ['not_delivered', 'not_read'] as const
const conditionNames = { not_delivered: 'send.next.not_delivered', not_read: 'send.next.not_read' } as const

function NextStep({ step: { minutes, condition }, onChange }: FieldProps) {
  const { say } = useWords()
  return (
    <div className={columns.two}>
      <NativeSelect
        label={say('send.next.condition')}
        value={condition}
        data={conditions.map(value => ({ value, label: say(conditionNames[value]) }))}
        onChange={({ currentTarget }) => choosing(conditions, one => onChange({ condition: one }))(currentTarget.value)}
      />
      <NumberInput
        label={say('send.next.minutes')}
        min={1}
        max={MOST_MINUTES}
        allowDecimal={false}
        value={minutes}
        onChange={value => onChange({ minutes: Math.min(MOST_MINUTES, Math.max(1, Number(value) || 1)) })}
      />
    </div>
  )
}

function Counter({ step: { channelType, text } }: { step: StepDraft }) {
  const { say } = useWords()
  if (channelType === 'FLASHCALL') return say('send.text.flashcall.help')
  if (channelType !== 'SMS') return say('new.text.used', { used: text.length, room: mostIn(channelType) })
  const { parts, alphabet, used, room } = measure(text)
  return [
    say('new.text.parts', { count: parts }),
    say(alphabet === 'gsm7' ? 'new.text.gsm' : 'new.text.unicode'),
    say('new.text.used', { used, room }),
  ].join(' · ')
}
