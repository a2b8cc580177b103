import { UnstyledButton } from '@mantine/core'
import { useWords } from '../../words/words.ts'

/** The form shows what was typed before the page was loaded again. */
export function RestoredNote({ onStartAgain }: { onStartAgain(): void }) {
  const { say } = useWords()
  return (
    <p className="note">
      {say('form.restored')}{' '}
      <UnstyledButton className="link" onClick={onStartAgain}>
        {say('form.startAgain')}
      </UnstyledButton>
    </p>
  )
}
