import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { EndedAnswer, ListedSession } from '../../../src/http/cabinet/sign-in/account.ts'
import { ask, type Wire } from '../api.ts'
import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
import { tellDone, tellProblem } from '../parts/dialogs/toast.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useWords } from '../words/words.ts'
import styles from './account.module.css'
import { sessionsQuery } from './account.ts'
import { deviceOf } from './device.ts'

/** The list of the person's sessions. */
export function Sessions() {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const end = useEnd()
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <BoneRows rows={2} />
  return (
    <>
      <ul className={styles.sessions}>
        {data.sessions.map(session => (
          <SessionRow key={session.id} session={session} onEnd={() => end.mutate(`/${session.id}`)} />
        ))}
      </ul>
      {data.sessions.length > 2 && (
        <Button className={styles.others} onClick={() => end.mutate('')} loading={end.isPending}>
          {say('account.sessions.endOthers')}
        </Button>
      )}
    </>
  )
}

/** Ends one session by its id. Without an id it ends all sessions except the present one. */
function useEnd() {
  const { say } = useWords()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (which: `/${string}` | '') => ask<EndedAnswer | undefined>('DELETE', `/account/sessions${which}`),
    onError: tellProblem,
    onSuccess: async answer => {
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      tellDone(say('account.sessions.ended', { count: answer?.ended ?? 1 }))
    },
  })
}

function SessionRow({ session, onEnd }: { session: Wire<ListedSession>; onEnd(): void }) {
  const { say } = useWords()
  const { ago } = useFormats()
  const { browser, system } = deviceOf(session.agent)
  const device = browser && system ? say('account.sessions.device', { browser, system }) : (browser ?? system)
  const name = device ?? say('account.sessions.unknown')
  return (
    <li>
      <div>
        <p className="strong">{name}</p>
        <p className="note small">
          {session.address}, {say('account.sessions.used', { time: ago(session.usedAt) })}
        </p>
      </div>
      {session.isThis ? (
        <Status kind="ok" isPill>
          {say('account.sessions.this')}
        </Status>
      ) : (
        <Button onClick={onEnd} aria-label={say('account.sessions.endOf', { device: name })}>
          {say('account.sessions.end')}
        </Button>
      )}
    </li>
  )
}
