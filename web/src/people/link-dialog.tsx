import type { LinkAnswer } from '../../../src/http/cabinet/companies/people.ts'
import type { Wire } from '../api.ts'
import { useFormats } from '../format.ts'
import { Band } from '../parts/content/band.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { CopyField } from '../parts/forms/copy-field.tsx'
import { useWords } from '../words/words.ts'

type Props = { name: string; answer: Wire<LinkAnswer>; onClose(): void }

/** The link of an invitation. It is shown only once, because the server stores only a hash. */
export function LinkDialog({ name, answer, onClose }: Props) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { mail } = answer
  const time = moment(answer.expiresAt)
  const isMailed = mail !== null && mail.failure === null
  return (
    <Dialog
      title={isMailed ? say('people.link.mailed') : say('people.link.title', { name })}
      text={isMailed ? say('people.link.mailed.text', { address: mail.to, time }) : say('people.link.text', { time })}
      close={say('app.done')}
      onClose={onClose}
    >
      {mail?.failure && (
        <Band kind="warn" title={say(mail.failure === 'unknown' ? 'people.link.mayBeMailed' : 'people.link.notMailed')}>
          <p>{say(`people.link.notMailed.${mail.failure}`)}</p>
        </Band>
      )}
      <CopyField label={say('people.link.label')} value={answer.link} />
    </Dialog>
  )
}
