import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { FormProblem } from '../forms/form-problem.tsx'
import { Dialog } from './dialog.tsx'
import { tellDone } from './toast.tsx'

type Props = {
  title: string
  text: string
  /** The label of the button: the verb of the title. */
  submit: string
  isDangerous?: boolean
  change(): Promise<unknown>
  /**
   * Queries that the page repeats afterwards. It repeats them after a refusal too, because another person may have made
   * a change.
   */
  stale: QueryKey[]
  /** The toast after success. */
  done: string
  onClose(): void
}

/** Asks for confirmation of a change without fields, and makes it. */
export function ConfirmDialog({ change, stale, done, ...asked }: Props) {
  const words = useWords()
  const client = useQueryClient()
  const making = useMutation({
    mutationFn: change,
    onSettled: () => Promise.all(stale.map(queryKey => client.invalidateQueries({ queryKey }))),
    onSuccess: () => {
      tellDone(done)
      asked.onClose()
    },
  })
  return (
    <Dialog {...asked} isBusy={making.isPending} onSubmit={() => making.mutate()}>
      {making.isError && <FormProblem>{describeProblem(words, making.error)}</FormProblem>}
    </Dialog>
  )
}
