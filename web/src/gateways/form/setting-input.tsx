import { NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core'
import { PasswordField } from '../../parts/forms/password-field.tsx'
import type { Key } from '../../words/dictionary.ts'
import { useWords } from '../../words/words.ts'
import styles from '../gateways.module.css'
import type { Field } from '../gateways.ts'

export type Setting = string | number | boolean | null | undefined
export type Settings = Record<string, Setting>

type Props = {
  field: Field
  value: Setting
  isSecret: boolean
  /** True for a secret that has a value. If the field stays empty, the value stays. */
  isSet: boolean
  problem: string | undefined
  onChange(value: Setting): void
}

type SettingKey = Extract<Key, `setting.${string}`> extends `setting.${infer Name}` ? Name : never

/** One field of the connector's description. An empty field means the default of the connector. */
export function SettingInput({ field, value, isSecret, isSet, problem, onChange }: Props) {
  const { say } = useWords()
  const label = say(`setting.${field.name as SettingKey}`)
  const common = { label, error: problem, required: field.isRequired === true && !isSet, withAsterisk: false }
  const text = String(value ?? '')
  const type = ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value)
  if (isSecret) {
    const placeholder = isSet ? say('gateway.form.secretSet') : ''
    if (field.kind === 'file') return <Area {...common} placeholder={placeholder} value={text} onChange={type} />
    return (
      <PasswordField {...common} placeholder={placeholder} autoComplete="new-password" value={text} onChange={type} />
    )
  }
  switch (field.kind) {
    case 'flag':
      return (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={value === undefined || value === null ? field.default : value === true || value === 'true'}
            onChange={({ currentTarget }) => onChange(currentTarget.checked)}
          />
          {label}
        </label>
      )
    case 'choice':
      return <NativeSelect {...common} data={[...field.choices]} value={text || field.default} onChange={type} />
    case 'whole':
      return (
        <NumberInput
          {...common}
          placeholder={field.default === undefined ? say('gateway.form.auto') : String(field.default)}
          allowDecimal={false}
          hideControls
          value={text}
          onChange={number => onChange(number === '' ? null : Number(number))}
        />
      )
    case 'share':
      return (
        <NumberInput
          {...common}
          placeholder={String(field.default)}
          step={0.1}
          hideControls
          value={text}
          onChange={number => onChange(number === '' ? null : Number(number))}
        />
      )
    case 'file':
      return <Area {...common} value={text} onChange={type} />
    case 'names':
      return (
        <TextInput {...common} description={say('gateway.form.names')} value={text} maxLength={5000} onChange={type} />
      )
    default:
      return <TextInput {...common} placeholder={field.default ?? ''} value={text} maxLength={2000} onChange={type} />
  }
}

type AreaProps = {
  label: string
  error: string | undefined
  required: boolean
  withAsterisk: boolean
  placeholder?: string
  value: string
  onChange(event: { currentTarget: { value: string } }): void
}

const Area = (props: AreaProps) => (
  <Textarea
    {...props}
    rows={4}
    autosize={false}
    className={styles.whole ?? ''}
    classNames={{ input: styles.area ?? '' }}
  />
)
