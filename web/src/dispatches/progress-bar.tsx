import bar from '../parts/charts/bar.module.css'
import type { Counts } from './dispatches.ts'
import { totalOf } from './dispatches.ts'
import styles from './progress-bar.module.css'

/**
 * Shares of delivered, submitted and failed messages. Screen readers skip it, because the figures beside it say the
 * same.
 */
export function ProgressBar({ counts, isThick = false }: { counts: Omit<Counts, 'unsent'>; isThick?: boolean }) {
  const total = totalOf(counts) || 1
  const width = (part: number) => ({ width: `${(part / total) * 100}%` })
  return (
    <div className={`${bar.bar} ${isThick ? bar.thick : ''}`} aria-hidden="true">
      <i className={styles.ok} style={width(counts.delivered)} />
      <i className={styles.sent} style={width(counts.sent)} />
      <i className={styles.fail} style={width(counts.failed)} />
    </div>
  )
}
