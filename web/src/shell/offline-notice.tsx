import { useNetwork } from '@mantine/hooks'
import { Icon } from '../parts/content/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './offline-notice.module.css'

export function OfflineNotice() {
  const { say } = useWords()
  const { online } = useNetwork()
  return (
    <div role="status">
      {!online && (
        <p className={styles.band}>
          <Icon name="warn" />
          {say('app.offline')}
        </p>
      )}
    </div>
  )
}
