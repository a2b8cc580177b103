import type { ReactNode } from 'react'
import styles from './figures.module.css'

/** Three or four large figures in a row, on narrower screens two. */
export const Figures = ({ children }: { children: ReactNode }) => <dl className={styles.figures}>{children}</dl>

/** A figure. The line below compares or explains it. */
export const Figure = ({ label, value, children }: { label: string; value: ReactNode; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd className={styles.value}>{value}</dd>
    <dd className={styles.below}>{children}</dd>
  </div>
)
