import type { LinkAnswer } from '../../../src/http/cabinet/companies/people.ts'
import type { Wire } from '../api.ts'
import { useFormats } from '../format.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { useWords } from '../words/words.ts'

type Props = { name: string; answer: Wire<LinkAnswer>; onClose(): void }

/** The link of an invitation. It is shown only once, because the server stores only a hash. */
export function LinkDialog({ name, answer, onClose }: Props) {
  const { say } = useWords()
  const { moment } = useFormats()
  return (
    <Dialog
      title={say('people.link.title', { name })}
      text={say('people.link.text', { time: moment(answer.expiresAt) })}
      close={say('app.done')}
      onClose={onClose}
    >
      <CopyField label={say('people.link.label')} value={answer.link} />
    </Dialog>
  )
}
