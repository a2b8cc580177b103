import { Menu } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { ask } from '../api.ts'
import { Icon } from '../parts/content/icon.tsx'
import { ButtonMenu } from '../parts/dialogs/button-menu.tsx'
import { tellProblem } from '../parts/dialogs/toast.tsx'
import { dropAllKept } from '../parts/forms/kept-form.ts'
import { nameOf, queryClient, useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './account-menu.module.css'

/** The signed-in person, settings and sign-out. Wide at the bottom of the navigation, else an avatar in the header. */
export function AccountMenu({ isWide = false }: { isWide?: boolean }) {
  const { say } = useWords()
  const me = useMe()
  const signOut = useSignOut()
  const role = `${say(`role.${me.role}`)}, ${say(`kind.${me.kind}`)}`
  return (
    <ButtonMenu
      position={isWide ? 'top-start' : 'bottom-end'}
      width={216}
      button={
        <button
          type="button"
          className={isWide ? styles.wide : styles.narrow}
          aria-label={`${say('nav.accountMenu', { name: nameOf(me) })} ${role}`}
        >
          <span className={styles.face} data-initials={initialsOf(nameOf(me))} />
          {isWide && (
            <span className={styles.words}>
              <span>{nameOf(me)}</span> <span>{role}</span>
            </span>
          )}
        </button>
      }
    >
      <Menu.Item component={Link} to="/account" leftSection={<Icon name="person" />}>
        {say('nav.account')}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="out" />} onClick={() => signOut.mutate()}>
        {say('nav.signOut')}
      </Menu.Item>
    </ButtonMenu>
  )
}

function useSignOut() {
  const router = useRouter()
  return useMutation({
    mutationFn: () => ask<void>('DELETE', '/session'),
    onError: tellProblem,
    onSuccess: async () => {
      dropAllKept()
      await router.navigate({ to: '/sign-in' })
      queryClient.clear()
    },
  })
}

/** Two letters: the first of two words, or the first two of one word. */
export function initialsOf(name: string): string {
  const [first = '', second] = name.split(/[\s.@_-]+/).filter(Boolean)
  const letters = second ? [[...first][0], [...second][0]] : [...first].slice(0, 2)
  return letters.join('').toUpperCase()
}
