import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { AgainAnswer, AgainCountAnswer } from '../../../../src/http/cabinet/dispatches/dispatches.ts'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { describeProblem } from '../../problems.ts'
import { queryClient } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { DISPATCHES, type Whole } from '../dispatches.ts'
import styles from './dispatch-page.module.css'

/** A million messages take about a minute. */
const MAKING_TIMEOUT_MS = 600_000

type Props = { dispatch: Whole; onClose(): void }

/** Says how many messages are sent again, and why others are not. The new dispatch is started on its own page, which shows its exact price. */
export function AgainDialog({ dispatch: { dispatchId, name }, onClose }: Props) {
  const words = useWords()
  const { say, language } = words
  const navigate = useNavigate()
  const { data, error } = useQuery({
    queryKey: ['again', dispatchId],
    queryFn: () => ask<AgainCountAnswer>('GET', `/dispatches/${dispatchId}/again`),
    gcTime: 0,
  })
  const again = useMutation({
    mutationFn: () =>
      ask<AgainAnswer>(
        'POST',
        `/dispatches/${dispatchId}/again?language=${language}`,
        undefined,
        undefined,
        MAKING_TIMEOUT_MS,
      ),
    // The server may have made the dispatch although its answer did not arrive. Then the page shows a link to it.
    onSettled: () => queryClient.invalidateQueries({ queryKey: DISPATCHES }),
    onSuccess: async made => {
      tellDone(say(made.isNew ? 'dispatch.again.done' : 'dispatch.again.before'))
      onClose()
      await navigate({ to: '/dispatches/$dispatchId', params: { dispatchId: made.dispatchId }, search: {} })
    },
  })
  const problem = again.error ?? error
  const isPossible = data && data.messages > 0 && data.messages <= data.most
  return (
    <Dialog
      title={say('dispatch.again.title', { name })}
      {...(isPossible ? { submit: say('dispatch.again.submit') } : { close: say('app.close') })}
      isBusy={again.isPending}
      onSubmit={() => again.mutate()}
      onClose={onClose}
    >
      {problem && <FormProblem>{describeProblem(words, problem)}</FormProblem>}
      {data ? <Counts counts={data} /> : !error && <BoneRows rows={2} />}
    </Dialog>
  )
}

const reasons = [
  ['reached', 'dispatch.again.reached'],
  ['repeated', 'dispatch.again.repeated'],
  ['withoutText', 'dispatch.again.withoutText'],
  ['removed', 'dispatch.again.removed'],
] as const

function Counts({ counts }: { counts: AgainCountAnswer }) {
  const { say } = useWords()
  const { money, number } = useFormats()
  const { messages, most, price, currency } = counts
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
