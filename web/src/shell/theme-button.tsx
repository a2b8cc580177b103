import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Preferences } from '../../../src/http/cabinet/sign-in/account.ts'
import { ask } from '../api.ts'
import { Icon } from '../parts/content/icon.tsx'
import { tellProblem } from '../parts/dialogs/toast.tsx'
import { useRefreshMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './shell.module.css'

/** Switches between light and dark at once, and stores the choice for the person. */
export function ThemeButton() {
  const { say } = useWords()
  const refreshMe = useRefreshMe()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const save = useMutation({
    mutationFn: (preferences: Preferences) => ask<void>('PATCH', '/account', preferences),
    onSuccess: refreshMe,
    onError: tellProblem,
  })
  const change = () => {
    const theme = isDark ? 'light' : 'dark'
    setColorScheme(theme)
    save.mutate({ theme })
  }
  const label = say(isDark ? 'theme.toLight' : 'theme.toDark')
  return (
    <button type="button" className={styles.iconButton} onClick={change} aria-label={label} title={label}>
      <Icon name={isDark ? 'sun' : 'moon'} size={18} />
    </button>
  )
}
