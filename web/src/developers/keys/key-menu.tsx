import { Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon } from '../../parts/content/icon.tsx'
import { ButtonMenu } from '../../parts/dialogs/button-menu.tsx'
import styles from '../../parts/dialogs/dots-button.module.css'
import { useWords } from '../../words/words.ts'
import type { KeyTask } from './key-dialogs.tsx'
import { type ApiKey, useNameOfKey } from './keys.ts'

type Props = { apiKey: ApiKey; mayChange: boolean; onTask(task: KeyTask): void }

/** The menu with the actions for a key. */
export function KeyMenu({ apiKey, mayChange, onTask }: Props) {
  const { say } = useWords()
  const name = useNameOfKey()(apiKey)
  const { isActive, keyId } = apiKey
  return (
    <ButtonMenu
      position="bottom-end"
      width={240}
      button={
        <button type="button" className={styles.target} aria-label={say('keys.actions', { name })}>
          <Icon name="dots" />
        </button>
      }
    >
      <Menu.Item
        leftSection={<Icon name="log" />}
        renderRoot={props => (
          <Link to="/developers/requests" search={before => ({ ...before, key: keyId })} {...props} />
        )}
      >
        {say('keys.log')}
      </Menu.Item>
      {mayChange && (
        <>
          <Menu.Item leftSection={<Icon name="shield" />} onClick={() => onTask({ kind: 'change', apiKey })}>
            {say('keys.change')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="key" />} onClick={() => onTask({ kind: 'reissue', apiKey })}>
            {say('keys.reissue')}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name={isActive ? 'slash' : 'replay'} />}
            onClick={() => onTask({ kind: isActive ? 'deactivate' : 'activate', apiKey })}
          >
            {say(isActive ? 'keys.deactivate' : 'keys.activate')}
          </Menu.Item>
        </>
      )}
    </ButtonMenu>
  )
}
