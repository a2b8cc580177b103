import { Button, TextInput } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import styles from './copy-field.module.css'

/** A read-only text with a button that copies it. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const { say } = useWords()
  const clipboard = useClipboard()
  return (
    <div className={styles.row}>
      <TextInput
        label={label}
        value={value}
        readOnly
        data-autofocus
        classNames={{ root: styles.field, input: styles.input }}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Button leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />} onClick={() => clipboard.copy(value)}>
        {clipboard.copied ? say('app.copied') : say('app.copy')}
      </Button>
    </div>
  )
}
