import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { type KindPath, VERIFICATION, type VerifierDetails } from '../verification.ts'

type Props = { kind: KindPath; saved: VerifierDetails; onClose(): void }

/**
 * Names the effects of the deletion: the pages or programs that use the verifier, and the number of codes that it sent
 * lately.
 */
export function DeleteDialog({ kind, saved, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const { id, name, page, sentLately } = saved
  const client = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => ask<void>('DELETE', `/verification/${kind}/${id}`),
    onSuccess: async () => {
      tellDone(say('verification.deleted', { name }))
      await navigate({ to: '/verification' })
      client.removeQueries({ queryKey: [...VERIFICATION, kind, id] })
      await client.invalidateQueries({ queryKey: VERIFICATION })
    },
  })
  return (
    <Dialog
      title={
        page ? say('verification.delete.widget.title', { name }) : say('verification.delete.verifier.title', { name })
      }
      text={
        page
          ? say('verification.delete.widget.text', { origins: page.origins.join(', ') })
          : say('verification.delete.verifier.text', { id })
      }
      submit={say('verification.delete')}
      isDangerous
      isBusy={remove.isPending}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      {remove.isError && <FormProblem>{describeProblem(words, remove.error)}</FormProblem>}
      <p className="note">
        {sentLately > 0 ? say('verification.delete.used', { count: sentLately }) : say('verification.delete.unused')}
      </p>
    </Dialog>
  )
}
