import { UnstyledButton } from '@mantine/core'
import { useWords } from '../../words/words.ts'

/** Says that the form shows values typed before the reload, and offers to start again. */
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
