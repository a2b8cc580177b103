import type { ReactNode } from 'react'
import styles from './band.module.css'
import { Icon } from './icon.tsx'

type Props = { kind: 'warn' | 'fail'; title: string; children?: ReactNode }

/** A warning above the content of a page. It says what happened and what to do. */
export const Band = ({ kind, title, children }: Props) => (
  <div className={`${styles.band} ${styles[kind]}`}>
    <Icon name={kind === 'warn' ? 'warn' : 'fail'} />
    <div>
      <p className="strong">{title}</p>
      {children}
    </div>
  </div>
)

/** A text that a person wrote, with its line breaks. */
export const Said = ({ children }: { children: string }) => <p className={styles.said}>{children}</p>
