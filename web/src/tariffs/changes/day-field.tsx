import { SegmentedControl, TextInput } from '@mantine/core'
import { useWords } from '../../words/words.ts'
import { tomorrowIn } from '../names.ts'
import styles from '../tariffs.module.css'

type Props = {
  zone: string
  value: string | null
  /** True for a tariff, because a tariff counts the messages that are sent under it. */
  isCounted?: boolean
  onChange(day: string | null): void
}

/** The first day of a change: tomorrow or later, or null for at once. */
export function DayField({ zone, value, isCounted = true, onChange }: Props) {
  const { say } = useWords()
  const tomorrow = tomorrowIn(zone)
  return (
    <div className={styles.day}>
      <SegmentedControl
        aria-label={say('tariffs.when')}
        value={value === null ? 'now' : 'day'}
        data={[
          { value: 'day', label: say('tariffs.when.day') },
          { value: 'now', label: say('tariffs.when.now') },
        ]}
        onChange={chosen => onChange(chosen === 'now' ? null : tomorrow)}
      />
      {value !== null && (
        <TextInput
          type="date"
          label={say('tariffs.when.first')}
          description={say(isCounted ? 'tariffs.when.zone' : 'tariffs.when.zoneOnly', { zone })}
          min={tomorrow}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </div>
  )
}
