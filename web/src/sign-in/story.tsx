import { Icon, type IconName } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './story.module.css'

/** The life of one message, as decoration. Screen readers skip it. */
export function Story() {
  const { say } = useWords()
  return (
    <div className={styles.right} aria-hidden="true">
      <div className={styles.story}>
        <p className={styles.text}>{say('signIn.story.text')}</p>
        <ol className={styles.life}>
          <Moment time="14:26:11" icon="bubble" title={say('signIn.story.accepted')} />
          <Moment time="14:26:11" icon="sent" title={say('signIn.story.sent')} note={say('signIn.story.sentNote')} />
          <Moment
            time="14:26:14"
            icon="ok"
            title={say('signIn.story.delivered')}
            note={say('signIn.story.deliveredNote')}
          />
        </ol>
        <p className={styles.claim}>
          {say('signIn.story.claim')}
          <br />
          {say('signIn.story.claimEnd')}
        </p>
      </div>
    </div>
  )
}

type MomentProps = { time: string; icon: IconName; title: string; note?: string }

const Moment = ({ time, icon, title, note }: MomentProps) => (
  <li>
    <time>{time}</time>
    <span className={`${styles.point} ${styles[icon] ?? ''}`}>
      <Icon name={icon} size={18} />
    </span>
    <div>
      <p className={styles.title}>{title}</p>
      {note && <p className={styles.note}>{note}</p>}
    </div>
  </li>
)
