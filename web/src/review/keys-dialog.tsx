import { Pair, Pairs } from '../parts/content/pairs.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { useWords } from '../words/words.ts'
import styles from './review.module.css'

const keys = [
  ['A', 'review.keys.approve'],
  ['R', 'review.keys.reject'],
  ['D', 'review.keys.deny'],
  ['J', 'review.keys.next'],
  ['K', 'review.keys.previous'],
  ['?', 'review.keys.help'],
] as const

export function KeysDialog({ onClose }: { onClose(): void }) {
  const { say } = useWords()
  return (
    <Dialog title={say('review.keys')} close={say('app.close')} onClose={onClose}>
      <div className={styles.keys}>
        <Pairs>
          {keys.map(([key, name]) => (
            <Pair key={key} name={say(name)}>
              <kbd>{key}</kbd>
            </Pair>
          ))}
        </Pairs>
      </div>
    </Dialog>
  )
}
