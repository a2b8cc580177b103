import { useId } from 'react'
import styles from './new-dispatch.module.css'

type Option<Value extends string> = { value: Value; title: string; text: string }
type Props<Value extends string> = {
  label: string
  value: Value
  options: Option<Value>[]
  isTwin?: boolean
  onChange(value: Value): void
}

/** A choice of a few options, each with a line of explanation. */
export function Choice<Value extends string>({ label, value, options, isTwin = false, onChange }: Props<Value>) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} className={`${styles.picks} ${isTwin ? styles.twin : ''}`}>
      {options.map(option => (
        <label key={option.value} className={styles.pick}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <b>{option.title}</b>
          <span>{option.text}</span>
        </label>
      ))}
    </div>
  )
}
