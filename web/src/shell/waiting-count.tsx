import { useQuery } from '@tanstack/react-query'
import { countQuery } from '../review/review.ts'
import styles from './waiting-count.module.css'

/** The number of sender names and templates that wait for review. Hidden if there are none. */
export function WaitingCount() {
  const waiting = useQuery(countQuery).data?.waiting ?? 0
  return waiting === 0 ? null : (
    <span className={styles.count}>{waiting > MOST_SHOWN ? `${MOST_SHOWN}+` : waiting}</span>
  )
}

const MOST_SHOWN = 99
