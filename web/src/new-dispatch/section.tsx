import { type ReactNode, useId } from 'react'
import styles from './new-dispatch.module.css'

type Props = { title: string; note?: string | undefined; end?: ReactNode; children: ReactNode }

/** A heading and what belongs to it. */
export function Section({ title, note, end, children }: Props) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <h2 id={id}>{title}</h2>
        {note && <span className="note">{note}</span>}
        {end && <div className={styles.end}>{end}</div>}
      </div>
      {children}
    </section>
  )
}
