import { Button, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReviewStatus } from '../../../src/domain/review/review.ts'
import type { DecidedAnswer, DecisionForm, QueueAnswer } from '../../../src/http/cabinet/senders/review.ts'
import { ask, type Wire } from '../api.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone, tellRefusal } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem, isChangedMeanwhile } from '../problems.ts'
import { useWords, type Words } from '../words/words.ts'
import styles from './review.module.css'
import { isSame, type Open, queueQuery, REVIEW, type SenderData, type TemplateData } from './review.ts'
import type { ReviewAct } from './use-review-keys.ts'

export type Decision = DecisionForm['decision']

const done = { approve: 'review.approved', reject: 'review.rejected', deny: 'review.denied' } as const

/**
 * Decides about the request that the page shows. The server refuses if another person decided or changed it meanwhile;
 * then the page loads it again.
 */
export function useDecision({ kind, id }: Open, data: SenderData | TemplateData | undefined, onDecided: () => void) {
  const words = useWords()
  const { say } = words
  const client = useQueryClient()
  return useMutation({
    mutationFn: (form: Omit<DecisionForm, 'version'>) =>
      ask<DecidedAnswer>('POST', `/review/${kind}s/${id}/decision`, { ...form, version: data!.version }),
    onSuccess: (_, { decision }) => {
      const name = 'senderName' in data! && data.senderName && kind === 'sender' ? data.senderName : `#${id}`
      tellDone(say(done[decision], { name }))
      client.setQueryData(queueQuery.queryKey, queue => queue && without(queue, { kind, id }))
      onDecided()
    },
    // The dialog shows the error of a refusal itself.
    onError: (error, { decision }) => decision === 'approve' && tellRefusal(describeRefusal(words, error)),
    onSettled: () => client.invalidateQueries({ queryKey: REVIEW }),
  })
}

/** Corrects the stored count before the server is asked again: after the last request nothing waits. */
function without(queue: Wire<QueueAnswer>, decided: Open) {
  const items = queue.items.filter(item => !isSame(item, decided))
  return { ...queue, items, waiting: queue.waiting - (queue.items.length - items.length) }
}

const describeRefusal = (words: Words, error: unknown) =>
  isChangedMeanwhile(error) ? words.say('review.meanwhile') : describeProblem(words, error)

type BarProps = { status: ReviewStatus; isWaiting: boolean; isBusy: boolean; onAct(what: ReviewAct): void }

/** The three decisions, or the result of a decided request. */
export function DecisionBar({ status, isWaiting, isBusy, onAct }: BarProps) {
  const { say } = useWords()
  if (!isWaiting) {
    return (
      <div className={styles.decide}>
        <p className="note" role="status">
          {say('review.decided', { status: say(`review.status.${status}`) })}
        </p>
        <Button onClick={() => onAct('next')}>{say('review.next')}</Button>
      </div>
    )
  }
  return (
    <div className={styles.decide}>
      <Button variant="filled" loading={isBusy} rightSection={<kbd>A</kbd>} onClick={() => onAct('approve')}>
        {say('review.approve')}
      </Button>
      <Button disabled={isBusy} rightSection={<kbd>R</kbd>} onClick={() => onAct('reject')}>
        {say('review.reject')}
      </Button>
      <Button disabled={isBusy} rightSection={<kbd>D</kbd>} onClick={() => onAct('deny')}>
        {say('review.deny')}
      </Button>
    </div>
  )
}

type DialogProps = {
  decision: 'reject' | 'deny'
  name: string
  isBusy: boolean
  error: unknown
  onDecide(decision: Decision, comment: string): void
  onClose(): void
}

/** Both need a comment, because the company reads it. */
export function DecisionDialog({ decision, name, isBusy, error, onDecide, onClose }: DialogProps) {
  const words = useWords()
  const { say } = words
  const [comment, setComment] = useState('')
  const [isTried, setIsTried] = useState(false)
  const isEmpty = comment.trim() === ''
  const submit = () => {
    setIsTried(true)
    if (!isEmpty) onDecide(decision, comment.trim())
  }
  return (
    <Dialog
      title={say(`review.${decision}.title`, { name })}
      text={say(`review.${decision}.text`)}
      submit={say(`review.${decision}.submit`)}
      isDangerous={decision === 'deny'}
      isBusy={isBusy}
      onSubmit={submit}
      onClose={onClose}
    >
      {error != null && <FormProblem>{describeRefusal(words, error)}</FormProblem>}
      <Textarea
        label={say('review.comment')}
        data-autofocus
        autosize
        minRows={3}
        maxRows={10}
        maxLength={2000}
        error={isTried && isEmpty && say('review.comment.empty')}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
    </Dialog>
  )
}
