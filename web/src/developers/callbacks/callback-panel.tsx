import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { CodeBlock } from '../../parts/content/code-block.tsx'
import { Icon } from '../../parts/content/icon.tsx'
import { Status } from '../../parts/content/status.tsx'
import dots from '../../parts/dialogs/dots-button.module.css'
import { tellDone, tellProblem } from '../../parts/dialogs/toast.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import {
  CALLBACKS,
  callbackPath,
  callbackQuery,
  isRedirect,
  type Opened,
  settingsQuery,
  useErrorWords,
} from './callbacks.ts'

type Props = { companyId: number; callbackId: number; mayReplay: boolean; onClose(): void }

/** One callback beside the log: every attempt with its answer, and the request. */
export function CallbackPanel({ companyId, callbackId, mayReplay, onClose }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(callbackQuery(companyId, callbackId))
  return (
    <aside className={styles.panel} aria-label={say('callbacks.open')}>
      <div className={styles.panelHead}>
        <h2>{say('callbacks.opened', { id: String(callbackId) })}</h2>
        {mayReplay && data && <ReplayButton companyId={companyId} callbackId={callbackId} />}
        <button type="button" className={dots.target} aria-label={say('app.close')} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      {data ? (
        <Content companyId={companyId} callback={data} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={4} />
      )}
    </aside>
  )
}

function ReplayButton({ companyId, callbackId }: { companyId: number; callbackId: number }) {
  const { say } = useWords()
  const client = useQueryClient()
  const replay = useMutation({
    mutationFn: () => ask<void>('POST', callbackPath(companyId, `/${callbackId}/replay`)),
    onError: tellProblem,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: CALLBACKS })
      tellDone(say('callbacks.replayed'))
    },
  })
  return (
    <Button leftSection={<Icon name="replay" />} loading={replay.isPending} onClick={() => replay.mutate()}>
      {say('callbacks.replay')}
    </Button>
  )
}

function Content({ companyId, callback }: { companyId: number; callback: Opened }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { happenedAt, expiresAt, status, attempts, doneEvents, eventCount } = callback
  const isPart = status !== 'DELIVERED' && doneEvents > 0
  return (
    <>
      <p className="note">
        {status === 'WAITING'
          ? say('callbacks.happened', { time: moment(happenedAt), until: moment(expiresAt) })
          : `${say(`callbacks.status.${status}`)}, ${moment(happenedAt)}`}
      </p>
      {isPart && <p className="note">{say('callbacks.part', { done: doneEvents, count: eventCount })}</p>}
      {status === 'WAITING' && <NextAttempt companyId={companyId} callback={callback} />}
      <h3>{say('callbacks.answers')}</h3>
      {attempts.length > 0 ? (
        <ol className={styles.attempts}>
          {attempts.map(attempt => (
            <Attempt key={attempt.attemptedAt} attempt={attempt} />
          ))}
        </ol>
      ) : (
        <p className="note">{say('callbacks.noAttempt')}</p>
      )}
      <h3>{say('callbacks.request')}</h3>
      <CodeBlock label={say('callbacks.request')}>{useRequestText(callback)}</CodeBlock>
    </>
  )
}

/** A paused receiver gets only its oldest callback, so the due time of the others does not count. */
function NextAttempt({ companyId, callback: { url, dueAt } }: { companyId: number; callback: Opened }) {
  const { say } = useWords()
  const { time } = useFormats()
  const { data } = useQuery(settingsQuery(companyId))
  const origin = URL.parse(url)?.origin
  if (data?.receivers.some(({ receiver, state }) => receiver === origin && state === 'paused'))
    return <p className="note">{say('callbacks.next.paused')}</p>
  return dueAt && <p className="note">{say('callbacks.next', { time: time(dueAt) })}</p>
}

function Attempt({ attempt }: { attempt: Opened['attempts'][number] }) {
  const { say } = useWords()
  const { moment, number } = useFormats()
  const errorWords = useErrorWords()
  const { attemptedAt, statusCode, error, answer, tookMs } = attempt
  const isOk = statusCode !== null && statusCode >= 200 && statusCode < 300
  return (
    <li>
      <div className={styles.attempt}>
        <Status kind={isOk ? 'ok' : 'fail'}>
          {statusCode === null ? say('callbacks.noAnswer') : String(statusCode)}
        </Status>
        <span>{say('callbacks.took', { ms: number(tookMs) })}</span>
        <time dateTime={attemptedAt}>{moment(attemptedAt)}</time>
      </div>
      {error && <p className="note">{errorWords(error)}</p>}
      {statusCode !== null && isRedirect(statusCode) && <p className="note">{say('callbacks.redirect')}</p>}
      {answer && <CodeBlock label={say('callbacks.answer')}>{answer}</CodeBlock>}
    </li>
  )
}

/** The request as text, with the headers that are the same in every attempt and with the first events. */
function useRequestText({ url, body, shownEvents, eventCount }: Opened): string {
  const { say } = useWords()
  const head = `POST ${url}\ncontent-type: application/json`
  const more =
    eventCount > shownEvents ? `\n… ${say('callbacks.request.more', { count: eventCount - shownEvents })}` : ''
  return `${head}\n\n${indented(body)}${more}`
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
