import { type ReactNode, useEffect } from 'react'
import { useWords } from '../../words/words.ts'
import styles from './page-head.module.css'

type Props = { title: string; note?: ReactNode; actions?: ReactNode }

/** The title of a page, a note and its actions. The browser tab gets the title too. */
export function PageHead({ title, note, actions }: Props) {
  usePageTitle(title)
  return (
    <div className={styles.head}>
      <div className={styles.words}>
        <h1>{title}</h1>
        {note && <p className="note">{note}</p>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}

/** Sets the title of the browser tab. Without a title the tab keeps its name. */
export function usePageTitle(title: string | undefined) {
  const { say } = useWords()
  const whole = title && `${title} · ${say('app.name')}`
  useEffect(() => {
    if (whole) document.title = whole
  }, [whole])
}
