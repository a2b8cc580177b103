import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SecretAnswer } from '../../../../src/http/cabinet/developers/callback-log.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { CopyField } from '../../parts/forms/copy-field.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { CALLBACKS, callbackPath } from './callbacks.ts'

type Props = { companyId: number; hasSecret: boolean; onClose(): void }

/** Creates or replaces the secret that signs callbacks, and shows it. The server never shows it again. */
export function SecretDialog({ companyId, hasSecret, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const client = useQueryClient()
  const make = useMutation({
    mutationFn: () => ask<SecretAnswer>('POST', callbackPath(companyId, '/secret')),
    onSuccess: () => client.invalidateQueries({ queryKey: CALLBACKS }),
  })
  if (make.data)
    return (
      <Dialog
        title={say('callbacks.secret.shown.title')}
        text={say('callbacks.secret.shown.text')}
        close={say('app.done')}
        onClose={onClose}
      >
        <CopyField label={say('callbacks.secret')} value={make.data.secret} />
      </Dialog>
    )
  return (
    <Dialog
      title={say(hasSecret ? 'callbacks.secret.title' : 'callbacks.secret.make')}
      text={say(hasSecret ? 'callbacks.secret.text' : 'callbacks.secret.first')}
      submit={say(hasSecret ? 'callbacks.secret.replace' : 'callbacks.secret.make')}
      isDangerous={hasSecret}
      isBusy={make.isPending}
      onSubmit={() => make.mutate()}
      onClose={onClose}
    >
      {make.isError && <FormProblem>{describeProblem(words, make.error)}</FormProblem>}
    </Dialog>
  )
}
