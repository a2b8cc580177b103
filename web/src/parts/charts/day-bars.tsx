import { VisuallyHidden } from '@mantine/core'
import { useFormats } from '../../format.ts'
import styles from './day-bars.module.css'

type Day = { /** `2026-11-12` */ day: string; value: number }
type Props = {
  label: string /** Column heads of the table that screen readers get. */
  heads: [string, string]
  days: Day[]
}

/** A bar for each day, with the highest value at the left and the first and last day below. */
export function DayBars({ label, heads, days }: Props) {
  const { number, date } = useFormats()
  const highest = Math.max(...days.map(({ value }) => value), 1)
  const [first, last] = [days[0], days.at(-1)]
  const nameOf = ({ day }: Day) => date(`${day}T12:00:00`)
  return (
    <figure className={styles.figure}>
      <div className={styles.chart} role="img" aria-label={label}>
        <span className={styles.top}>{number(highest)}</span>
        {days.map(one => (
          <span key={one.day} className={styles.column} title={`${nameOf(one)}: ${number(one.value)}`}>
            {one.value > 0 && <i style={{ height: `${Math.max(2, (one.value / highest) * 100)}%` }} />}
          </span>
        ))}
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{first && nameOf(first)}</span>
        <span>{last && nameOf(last)}</span>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              {heads.map(head => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map(one => (
              <tr key={one.day}>
                <th scope="row">{nameOf(one)}</th>
                <td>{number(one.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  )
}
