import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { FormProblem } from '../forms/form-problem.tsx'
import { Dialog } from './dialog.tsx'
import { tellDone } from './toast.tsx'

type Props = {
  title: string
  text: string
  /** What the button does: the verb of the title. */
  submit: string
  isDangerous?: boolean
  change(): Promise<unknown>
  /** What the page asks for again afterwards, also when the server refused: somebody else may have changed it. */
  stale: QueryKey[]
  /** Said when it is done. */
  done: string
  onClose(): void
}

/** Asks before a change that has nothing to fill in, and makes it. */
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
