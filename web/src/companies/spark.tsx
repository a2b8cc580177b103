import styles from './companies.module.css'

const WIDTH = 88
const HEIGHT = 24
const EDGE = 2

/** A small line of the last hours without numbers. The numbers stand beside it. */
export function Spark({ values }: { values: number[] }) {
  const most = Math.max(...values, 1)
  const step = WIDTH / (values.length - 1)
  const places = values.map((value, place) => {
    const y = HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE)
    return `${(place * step).toFixed(1)} ${y.toFixed(1)}`
  })
  return (
    <svg className={styles.spark} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={`M${places.join(' ')}`} />
    </svg>
  )
}
