import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'

/** A field for a password, with a button that shows it. */
export function PasswordField(props: PasswordInputProps) {
  const { say } = useWords()
  return (
    <PasswordInput
      {...props}
      visibilityToggleIcon={({ reveal }) => <Icon name={reveal ? 'eyeCrossed' : 'eye'} />}
      visibilityToggleButtonProps={{ 'aria-label': say('signIn.showPassword'), tabIndex: 0, c: 'var(--text-3)' }}
    />
  )
}

const SHORTEST = 10

/** The first mistake of a new password, checked before it is sent. The server checks it again. */
export function refusalOfNew(password: string, again: string) {
  if ([...password].length < SHORTEST) return 'problem.passwordLength'
  if (password !== password.trim()) return 'problem.passwordSpace'
  return password === again ? undefined : 'problem.passwordsDiffer'
}
