import { useQuery } from '@tanstack/react-query'
import { countQuery } from '../review/review.ts'
import styles from './waiting-count.module.css'

/** How many names and templates wait for review; nothing while none does. */
export function WaitingCount() {
  const waiting = useQuery(countQuery).data?.waiting ?? 0
  return waiting === 0 ? null : (
    <span className={styles.count}>{waiting > MOST_SHOWN ? `${MOST_SHOWN}+` : waiting}</span>
  )
}

const MOST_SHOWN = 99
