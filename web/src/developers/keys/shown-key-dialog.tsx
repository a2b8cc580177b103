import { Button, TextInput } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useState } from 'react'
import type { ShownKeyAnswer } from '../../../../src/http/cabinet/developers/keys.ts'
import type { Wire } from '../../api.ts'
import { CodeBlock } from '../../parts/content/code-block.tsx'
import { Icon } from '../../parts/content/icon.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { CopyField } from '../../parts/forms/copy-field.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { balanceLine, destinationIn, maySend, messageLine } from './curl-lines.ts'
import type { ApiKey, Trial } from './keys.ts'

type Props = { shown: Wire<ShownKeyAnswer>; type: ApiKey['type']; trial: Trial; onClose(): void }

/**
 * Shows the value of a key, and a command that tests it. The server stores only a hash and never shows the value again.
 */
export function ShownKeyDialog({ shown: { key }, type, trial, onClose }: Props) {
  const { say } = useWords()
  const [number, setNumber] = useState('')
  const clipboard = useClipboard()
  const destination = maySend(type) ? destinationIn(number) : undefined
  const line =
    destination === undefined ? balanceLine(trial, key) : messageLine(trial, key, destination, 'Hello from Tidings')
  return (
    <Dialog title={say('keys.shown.title')} text={say('keys.shown.text')} close={say('app.done')} onClose={onClose}>
      <CopyField label={say('keys.shown.label')} value={key} />
      <div className={styles.trial}>
        <h3>{say('keys.shown.try')}</h3>
        {maySend(type) && (
          <TextInput
            label={say('keys.shown.number')}
            type="tel"
            placeholder="+7 916 000-00-01"
            autoComplete="tel"
            maxLength={30}
            value={number}
            onChange={({ currentTarget }) => setNumber(currentTarget.value)}
          />
        )}
        <p className="note">{say(destination === undefined ? 'keys.shown.balance' : 'keys.shown.message')}</p>
        <CodeBlock label={say('keys.shown.try')}>{line}</CodeBlock>
        <Button leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />} onClick={() => clipboard.copy(line)}>
          {clipboard.copied ? say('app.copied') : say('keys.shown.copy')}
        </Button>
      </div>
    </Dialog>
  )
}
