import type { ReactNode } from 'react'
import styles from './pairs.module.css'

/** Rows of a name and, at the right, its value. With `hasLongNames` the names wrap, otherwise the values. */
export const Pairs = ({ hasLongNames = false, children }: { hasLongNames?: boolean; children: ReactNode }) => (
  <dl className={`${styles.pairs} ${hasLongNames ? styles.longNames : ''}`}>{children}</dl>
)

/** A sum has a line above it. */
export const Pair = ({ name, isSum = false, children }: { name: ReactNode; isSum?: boolean; children: ReactNode }) => (
  <>
    <dt className={isSum ? styles.sum : ''}>{name}</dt>
    <dd className={isSum ? styles.sum : ''}>{children}</dd>
  </>
)
