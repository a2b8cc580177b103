import type { HistoryItem } from '../../../../src/http/cabinet/senders/senders.ts'
import type { Wire } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { useWords } from '../../words/words.ts'
import styles from './review-history.module.css'

/** The review history of a sender name or a template, newest first: time, side and comment. */
export function ReviewHistory({ items }: { items: Wire<HistoryItem>[] }) {
  const { say } = useWords()
  const { moment } = useFormats()
  return (
    <ol className={styles.history}>
      {items.map(({ at, status, by, comment }) => (
        <li key={`${at} ${status}`}>
          <p className={styles.what}>{say(`review.history.${status}`)}</p>
          <p className={styles.when}>
            <time dateTime={at}>{moment(at)}</time>
            {by !== null && ` · ${say(`review.by.${by}`)}`}
          </p>
          {comment && <p className={styles.comment}>{comment}</p>}
        </li>
      ))}
    </ol>
  )
}
