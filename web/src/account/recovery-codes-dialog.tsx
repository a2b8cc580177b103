import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Icon } from '../parts/content/icon.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'

/** Shows the recovery codes. The server never shows them again. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose(): void }) {
  const { say } = useWords()
  const clipboard = useClipboard()
  const text = `${codes.join('\n')}\n`
  return (
    <Dialog
      title={say('account.second.codes.title')}
      text={say('account.second.codes.text')}
      submit={say('account.second.codes.kept')}
      onSubmit={onClose}
      onClose={onClose}
      extra={
        <>
          <Button
            leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />}
            onClick={() => clipboard.copy(text)}
          >
            {say(clipboard.copied ? 'app.copied' : 'account.second.codes.copy')}
          </Button>
          <Button leftSection={<Icon name="download" />} onClick={() => download('tidings-recovery-codes.txt', text)}>
            {say('account.second.codes.download')}
          </Button>
        </>
      }
    >
      <ul className={styles.codes}>
        {codes.map(code => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </Dialog>
  )
}

function download(name: string, text: string) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  URL.revokeObjectURL(address)
}
