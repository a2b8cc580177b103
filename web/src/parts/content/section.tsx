import { type ReactNode, useId } from 'react'
import styles from './section.module.css'

type Props = { title: string; note?: string | undefined; end?: ReactNode; children: ReactNode }

/** A heading with its content. `end` is shown at the right of the heading. */
export function Section({ title, note, end, children }: Props) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        {note && <span className="note">{note}</span>}
        {end && <div className={styles.end}>{end}</div>}
      </div>
      {children}
    </section>
  )
}
