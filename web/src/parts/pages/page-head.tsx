import { type ReactNode, useEffect } from 'react'
import { useWords } from '../../words/words.ts'
import styles from './page-head.module.css'

type Props = { title: string; note?: ReactNode; actions?: ReactNode }

/** The title of a page, a line about it, and what can be done. Names the tab of the browser too. */
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

/** Names the tab of the browser; without a title it keeps its name. */
export function usePageTitle(title: string | undefined) {
  const { say } = useWords()
  const whole = title && `${title} · ${say('app.name')}`
  useEffect(() => {
    if (whole) document.title = whole
  }, [whole])
}
