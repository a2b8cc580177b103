import { TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TestAnswer } from '../../../../src/http/cabinet/developers/callback-log.ts'
import { ask, ServerError, type Wire } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { CodeBlock } from '../../parts/content/code-block.tsx'
import { Status } from '../../parts/content/status.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { callbackPath, isRedirect, testQuery, useErrorWords } from './callbacks.ts'

type Props = { companyId: number; address: string | null; onClose(): void }

/** Sends one signed request to an address and shows the result. */
export function TestDialog({ companyId, address, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const [url, setUrl] = useState(address ?? '')
  const send = useMutation({
    // The proposed address has no password in it. The server uses the complete stored address.
    mutationFn: () =>
      ask<{ testId: number }>('POST', callbackPath(companyId, '/tests'), url === address ? {} : { url: url.trim() }),
  })
  const isOfUrl = send.error instanceof ServerError && /^url:|\/url|^body/.test(send.error.message)
  return (
    <Dialog
      title={say('callbacks.test.title')}
      text={say('callbacks.test.text')}
      submit={say('callbacks.test.submit')}
      close={say('app.close')}
      isBusy={send.isPending}
      onSubmit={() => send.mutate()}
      onClose={onClose}
    >
      {send.isError && !isOfUrl && <FormProblem>{describeProblem(words, send.error)}</FormProblem>}
      <TextInput
        label={say('callbacks.test.address')}
        type="url"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        maxLength={2000}
        placeholder="https://example.com/tidings"
        error={isOfUrl && say('callbacks.test.wrong')}
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      {send.data && <Result companyId={companyId} testId={send.data.testId} />}
    </Dialog>
  )
}

function Result({ companyId, testId }: { companyId: number; testId: number }) {
  const words = useWords()
  const { data, error } = useQuery(testQuery(companyId, testId))
  return (
    <div role="status" className={styles.result}>
      {error ? <FormProblem>{describeProblem(words, error)}</FormProblem> : <Outcome test={data} />}
    </div>
  )
}

function Outcome({ test }: { test: Wire<TestAnswer> | undefined }) {
  const { say } = useWords()
  const { number } = useFormats()
  const errorWords = useErrorWords()
  if (!test || test.state === 'waiting') return <Status kind="sent">{say('callbacks.test.waiting')}</Status>
  if (test.state === 'lost') return <p className="note">{say('callbacks.test.lost')}</p>
  const { statusCode, answer, error, tookMs } = test
  if (statusCode === null)
    return <Status kind="fail">{say('callbacks.test.failed', { error: errorWords(error ?? '') })}</Status>
  const given = { status: String(statusCode), ms: number(tookMs ?? 0) }
  const isOk = statusCode >= 200 && statusCode < 300
  return (
    <>
      <Status kind={isOk ? 'ok' : 'fail'}>
        {say(isOk ? 'callbacks.test.received' : 'callbacks.test.refused', given)}
      </Status>
      {isRedirect(statusCode) && <p className="note">{say('callbacks.redirect')}</p>}
      {answer ? (
        <CodeBlock label={say('callbacks.answer')}>{answer}</CodeBlock>
      ) : (
        <p className="note">{say('callbacks.emptyAnswer')}</p>
      )}
    </>
  )
}
