import { useWords } from '../../words/words.ts'
import styles from './message.module.css'

/** The text as a phone shows it. */
export function Bubble({ text }: { text: string | null }) {
  const { say } = useWords()
  return <p className={styles.bubble}>{text ?? say('messages.noText')}</p>
}
