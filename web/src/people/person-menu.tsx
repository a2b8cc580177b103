import { Menu } from '@mantine/core'
import { Icon } from '../parts/content/icon.tsx'
import { ButtonMenu } from '../parts/dialogs/button-menu.tsx'
import styles from '../parts/dialogs/dots-button.module.css'
import { nameOf } from '../session.ts'
import { useWords } from '../words/words.ts'
import type { Colleague } from './people.ts'
import type { PersonTask } from './person-dialogs.tsx'

/** The actions on a person. */
export function PersonMenu({ person, onTask }: { person: Colleague; onTask(task: PersonTask): void }) {
  const { say } = useWords()
  const name = nameOf(person)
  return (
    <ButtonMenu
      position="bottom-end"
      width={224}
      button={
        <button type="button" className={styles.target} aria-label={say('people.actions', { name })}>
          <Icon name="dots" />
        </button>
      }
    >
      <Menu.Item leftSection={<Icon name="person" />} onClick={() => onTask({ kind: 'role', person })}>
        {say('people.changeRole')}
      </Menu.Item>
      {person.isActive && (
        <Menu.Item leftSection={<Icon name="key" />} onClick={() => onTask({ kind: 'link', person })}>
          {say(person.isInvited ? 'people.newLink' : 'people.resetLink')}
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<Icon name={person.isActive ? 'slash' : 'replay'} />}
        onClick={() => onTask({ kind: person.isActive ? 'deactivate' : 'activate', person })}
      >
        {say(person.isActive ? 'people.deactivate' : 'people.activate')}
      </Menu.Item>
    </ButtonMenu>
  )
}
