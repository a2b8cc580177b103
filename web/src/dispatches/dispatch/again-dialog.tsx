import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { AgainCountAnswer } from '../../../../src/http/cabinet/dispatches/dispatches.ts'
import { ask, type Wire } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { describeProblem } from '../../problems.ts'
import { mayPass, queryClient } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { DISPATCHES, type Whole } from '../dispatches.ts'
import { createAgain } from './create-again.ts'
import styles from './dispatch-page.module.css'

type Props = { dispatch: Whole; onClose(): void }

/** Says how many messages are sent again, and why others are not. The new dispatch is started on its own page, which shows its exact price. */
export function AgainDialog({ dispatch: { dispatchId, name }, onClose }: Props) {
  const words = useWords()
  const { say, language } = words
  const navigate = useNavigate()
  const isMounted = useIsMounted()
  const [isUnanswered, setIsUnanswered] = useState(false)
  // Each request reads every message of the dispatch, so the page counts once.
  const { data, error } = useQuery({
    queryKey: ['again', dispatchId],
    queryFn: () => ask<AgainCountAnswer>('GET', `/dispatches/${dispatchId}/again`),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  })
  const again = useMutation({
    mutationFn: () => createAgain(dispatchId, language, () => setIsUnanswered(true)),
    onSettled: () => {
      setIsUnanswered(false)
      return queryClient.invalidateQueries({ queryKey: DISPATCHES })
    },
    onSuccess: async made => {
      tellDone(say(made.isNew ? 'dispatch.again.done' : 'dispatch.again.before'))
      if (!isMounted.current) return // the person went to another page
      onClose()
      await navigate({ to: '/dispatches/$dispatchId', params: { dispatchId: made.dispatchId }, search: {} })
    },
  })
  // Without the count the dispatch can still be created. Other refusals are refusals of the new dispatch too.
  const isUncounted = data ? data.counts === null : mayPass(error)
  const refusal = isUncounted ? null : error
  const problem = again.error ?? refusal
  const isPossible = isUncounted || (data && isWithin(data))
  return (
    <Dialog
      title={say('dispatch.again.title', { name })}
      {...(isPossible && { submit: say('dispatch.again.submit') })}
      {...((!isPossible || isUnanswered) && { close: say('app.close') })}
      isBusy={again.isPending}
      onSubmit={() => again.mutate()}
      onClose={onClose}
    >
      {problem && !again.isPending && <FormProblem>{describeProblem(words, problem)}</FormProblem>}
      {data && <Counts answer={data} />}
      {!data && !error && <BoneRows rows={2} />}
      {isUncounted && <p>{say(data ? 'dispatch.again.uncounted' : 'dispatch.again.countFailed')}</p>}
      {again.isPending && (
        <p className="note" role="status">
          {say(isUnanswered ? 'dispatch.again.unanswered' : 'dispatch.again.busy')}
        </p>
      )}
    </Dialog>
  )
}

function useIsMounted() {
  const isMounted = useRef(false)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return isMounted
}

type Answer = Wire<AgainCountAnswer>

const isWithin = ({ counts, most }: Answer) => counts !== null && counts.messages > 0 && counts.messages <= most

const reasons = [
  ['reached', 'dispatch.again.reached'],
  ['repeated', 'dispatch.again.repeated'],
  ['withoutText', 'dispatch.again.withoutText'],
  ['removed', 'dispatch.again.removed'],
] as const

function Counts({ answer: { counts, most, currency } }: { answer: Answer }) {
  const { say } = useWords()
  const { money, number } = useFormats()
  if (!counts) return null
  const { messages, price } = counts
  const left = reasons.reduce((sum, [reason]) => sum + counts[reason], 0)
  return (
    <>
      <p>
        {messages === 0
          ? say('dispatch.again.nothing')
          : messages > most
            ? say('dispatch.again.tooMany', { most: number(most), count: messages })
            : say('dispatch.again.text', { count: messages })}
      </p>
      {left > 0 && (
        <div className="note">
          <p>{say('dispatch.again.left', { count: left })}</p>
          <ul className={styles.left}>
            {reasons.map(
              ([reason, key]) => counts[reason] > 0 && <li key={reason}>{say(key, { count: counts[reason] })}</li>,
            )}
          </ul>
        </div>
      )}
      {messages > 0 && messages <= most && price > 0 && (
        <p className="note">{say('dispatch.again.price', { price: money(price, currency) })}</p>
      )}
    </>
  )
}
