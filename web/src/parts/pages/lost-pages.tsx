import { Button } from '@mantine/core'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { queryClient, sessionQuery } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { Blank } from './blank.tsx'
import { ErrorState } from './error-state.tsx'
import { Forbidden } from './forbidden.ts'

/** Replaces a page that failed to load or is not allowed. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter()
  if (error instanceof Forbidden) return <ForbiddenPage />
  const retry = async () => {
    await queryClient.resetQueries({ queryKey: sessionQuery.queryKey })
    await router.invalidate()
  }
  return <ErrorState level={1} error={error} onRetry={retry} />
}

export function NotFoundPage() {
  const { say } = useWords()
  return <LostPage title={say('error.notFound.title')} text={say('error.notFound.text')} />
}

function ForbiddenPage() {
  const { say } = useWords()
  return <LostPage title={say('error.forbidden.title')} text={say('error.forbidden.text')} />
}

function LostPage({ title, text }: { title: string; text: string }) {
  const { say } = useWords()
  return (
    <Blank drawing="lost" title={title} text={text} level={1}>
      <Button component={Link} to="/">
        {say('error.home')}
      </Button>
    </Blank>
  )
}
