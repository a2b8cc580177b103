import type { ReactNode } from 'react'
import styles from './pairs.module.css'

/** Names and values, one below the other; values at the right. Long names are broken, otherwise long values. */
export const Pairs = ({ hasLongNames = false, children }: { hasLongNames?: boolean; children: ReactNode }) => (
  <dl className={`${styles.pairs} ${hasLongNames ? styles.longNames : ''}`}>{children}</dl>
)

/** A sum stands below a line. */
export const Pair = ({ name, isSum = false, children }: { name: ReactNode; isSum?: boolean; children: ReactNode }) => (
  <>
    <dt className={isSum ? styles.sum : ''}>{name}</dt>
    <dd className={isSum ? styles.sum : ''}>{children}</dd>
  </>
)
