import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Link, useLocation } from '@tanstack/react-router'
import { isNotFound, ServerError } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { pageAround } from '../../navigation.ts'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import { Blank } from './blank.tsx'
import styles from './error-state.module.css'

/** `level` is 1 if it replaces a whole page, which has no other heading. */
type Props = { error: unknown; onRetry(): void; level?: 1 | 2 }

/**
 * Replaces content that could not be loaded. It says what happened, offers to try again, and shows the request id of
 * our log.
 */
export function ErrorState({ error, onRetry, level = 2 }: Props) {
  const words = useWords()
  if (isNotFound(error)) return <NothingHere level={level} />
  const isServers = error instanceof ServerError && error.status >= 500
  return (
    <Blank
      level={level}
      drawing="broken"
      title={words.say('error.title')}
      text={isServers ? words.say('error.text') : describeProblem(words, error)}
    >
      <Button leftSection={<Icon name="replay" />} onClick={onRetry}>
        {words.say('app.tryAgain')}
      </Button>
      {error instanceof ServerError && <RequestId error={error} />}
    </Blank>
  )
}

/** Replaces content that was deleted, never existed, or belongs to a company that the person may not see. */
function NothingHere({ level }: { level: 1 | 2 }) {
  const { say } = useWords()
  const page = useLocation({ select: ({ pathname }) => pageAround(pathname) })
  return (
    <Blank level={level} drawing="lost" title={say('error.gone.title')} text={say('error.gone.text')}>
      <Button component={Link} to={page?.to ?? '/'}>
        {page ? say('error.goTo', { page: say(page.label) }) : say('error.home')}
      </Button>
    </Blank>
  )
}

function RequestId({ error }: { error: ServerError }) {
  const { say } = useWords()
  const { time } = useFormats()
  const clipboard = useClipboard()
  return (
    <p className={styles.request}>
      {say('error.request', { id: error.requestId, time: time(error.at) })}{' '}
      <button type="button" className="link" onClick={() => clipboard.copy(error.requestId)}>
        {clipboard.copied ? say('app.copied') : say('error.copyRequest')}
      </button>
    </p>
  )
}
