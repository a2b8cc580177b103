import { TextInput } from '@mantine/core'
import styles from './day-filter.module.css'

type Props = {
  label: string
  value: string | undefined
  min?: string | undefined
  max?: string | undefined
  onChange(day: string | undefined): void
}

/** A day with its label at the left. */
export const DayFilter = ({ label, value, min, max, onChange }: Props) => (
  <div className={styles.day}>
    <span aria-hidden="true">{label}</span>
    <TextInput
      type="date"
      aria-label={label}
      value={value ?? ''}
      {...(min === undefined ? {} : { min })}
      {...(max === undefined ? {} : { max })}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    />
  </div>
)
