import { NativeSelect, TextInput } from '@mantine/core'
import type { VerifierChannel } from '../../../../src/domain/verifiers/verifier.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import type { Offer } from '../verification.ts'
import type { FormProps } from './draft.ts'

type Props = { form: FormProps; offer: Offer; channel: VerifierChannel }

/** A text field, or a select with the registered names for channels with registration. */
export function SenderField(props: Props) {
  const { form, offer, channel } = props
  const { senders } = form.draft.settings
  const change = (name: string) => form.setting({ senders: { ...senders, [channel]: name || undefined } })
  const Field = offer.registered.includes(channel) ? RegisteredName : FreeName
  return <Field {...props} onChange={change} />
}

type FieldProps = Props & { onChange(name: string): void }

function useLabels({ form, channel }: Props) {
  const { say } = useWords()
  const { channel: nameOf } = useTrafficNames()
  return {
    label: say('verification.channels.sender', { channel: nameOf(channel) }),
    error: form.wrong(`senders must give a name for ${channel}`),
    cannotUse: say('verification.channels.cannot', { channel: nameOf(channel) }),
  }
}

function FreeName(props: FieldProps) {
  const { form, offer, channel, onChange } = props
  const { label, error } = useLabels(props)
  return (
    <TextInput
      aria-label={label}
      placeholder={offer.defaultSenders[channel]}
      maxLength={64}
      value={form.draft.settings.senders[channel] ?? ''}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

function RegisteredName(props: FieldProps) {
  const { form, offer, channel, onChange } = props
  const { say } = useWords()
  const { label, error, cannotUse } = useLabels(props)
  const usual = offer.defaultSenders[channel]
  const names = offer.names.filter(name => name.channelType === channel)
  const chosen = form.draft.settings.senders[channel]
  const found = names.find(({ senderName }) => senderName === chosen)
  const isUnknown = chosen !== undefined && chosen !== usual && !found
  return (
    <NativeSelect
      aria-label={label}
      value={chosen ?? ''}
      error={error ?? ((isUnknown || found?.isUsable === false) && cannotUse)}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        {
          value: '',
          label: usual ? say('verification.channels.usual', { name: usual }) : say('verification.channels.noName'),
        },
        ...names.map(({ senderName, isUsable }) => ({
          value: senderName,
          label: isUsable ? senderName : say('verification.channels.notReady', { name: senderName }),
        })),
        ...(isUnknown ? [{ value: chosen, label: say('verification.channels.unknown', { name: chosen }) }] : []),
      ]}
    />
  )
}
