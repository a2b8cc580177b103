import { Skeleton } from '@mantine/core'
import { useWords } from '../../words/words.ts'
import styles from './bones.module.css'

/** Placeholders in the shape of rows, shown during loading. */
export function BoneRows({ rows = 3 }: { rows?: number }) {
  const { say } = useWords()
  return (
    <div role="status" aria-label={say('app.loading')}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles.row}>
          <div>
            <Skeleton height={10} width={132 - 16 * (row % 3)} />
            <Skeleton height={8} width={72 + 12 * (row % 2)} mt={7} />
          </div>
          <Skeleton height={10} width={64} />
          <Skeleton height={10} width={72} />
        </div>
      ))}
    </div>
  )
}
