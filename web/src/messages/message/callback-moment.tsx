import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Status } from '../../parts/content/status.tsx'
import { tellDone, tellProblem } from '../../parts/dialogs/toast.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { LIVES, type Moment, pathOf, useChosenCompany } from '../messages.ts'
import styles from './life.module.css'

type Callback = Extract<Moment, { kind: 'callback' }>['callback']

type Props = { uuid: string; callback: Callback; title: string; note: string }

/** A callback with its attempts, and a button that sends it again. */
export function CallbackMoment({ uuid, callback, title, note }: Props) {
  const { say } = useWords()
  const mayReplay = useMe().rights.includes('developers.change')
  const client = useQueryClient()
  const companyId = useChosenCompany()
  const replay = useMutation({
    mutationFn: () => ask<void>('POST', pathOf(uuid, `/callbacks/${callback.callbackId}/replay`, companyId)),
    onError: tellProblem,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: LIVES })
      tellDone(say('message.callback.replayed'))
    },
  })
  return (
    <>
      <h3>
        {title}
        {mayReplay && (
          <Button
            size="compact-xs"
            className={styles.replay}
            leftSection={<Icon name="replay" size={12} />}
            loading={replay.isPending}
            onClick={() => replay.mutate()}
          >
            {say('message.callback.replay')}
          </Button>
        )}
      </h3>
      <p>{note}</p>
      {callback.attempts.length > 0 && (
        <ul className={styles.tries}>
          {callback.attempts.map(attempt => (
            <Attempt key={attempt.attemptedAt + attempt.tookMs} attempt={attempt} />
          ))}
        </ul>
      )}
    </>
  )
}

function Attempt({ attempt }: { attempt: Callback['attempts'][number] }) {
  const { say } = useWords()
  const { time, number } = useFormats()
  const { statusCode, error, tookMs, attemptedAt, triedEvents, deliveredEvents } = attempt
  const isTaken = deliveredEvents === triedEvents && triedEvents > 0
  const isOk = isTaken || (statusCode !== null && statusCode >= 200 && statusCode < 300)
  return (
    <li>
      <time dateTime={attemptedAt}>{time(attemptedAt)}</time>
      <Status kind={isOk ? 'ok' : 'fail'}>
        {statusCode === null ? say('message.callback.noAnswer') : String(statusCode)}
      </Status>
      <span>
        {error && `${error}, `}
        {say('message.callback.took', { ms: number(tookMs) })}
      </span>
    </li>
  )
}
