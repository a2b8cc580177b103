import { Button, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { NameChange } from '../../../src/http/cabinet/senders/senders.ts'
import { ask } from '../api.ts'
import { useFormats } from '../format.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellProblem } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { useSenderChange } from './changes.ts'
import { EndDialog } from './end-dialog.tsx'
import type { SenderPageData } from './senders.ts'

type Props = { companyId: number; sender: SenderPageData }

/** The actions on a sender name in its review status. */
export function SenderActions({ companyId, sender }: Props) {
  const { say } = useWords()
  const [open, setOpen] = useState<'suspend' | 'close'>()
  const { senderId, status, suspended, changeable } = sender
  const isBack = status === 'REJECTED'
  const isOver = status === 'DENIED' || status === 'CLOSED'
  const close = () => setOpen(undefined)
  return (
    <>
      {changeable.includes('senderName') && (
        <Button
          variant={isBack ? 'filled' : 'default'}
          renderRoot={props => (
            <Link {...props} to="/senders/$senderId" params={{ senderId }} search={{ edit: true }} />
          )}
        >
          {say(isBack ? 'sender.mend' : 'sender.edit')}
        </Button>
      )}
      {suspended ? (
        <ResumeButton companyId={companyId} sender={sender} />
      ) : (
        !isOver && !isBack && <Button onClick={() => setOpen('suspend')}>{say('sender.suspend')}</Button>
      )}
      {changeable.includes('dateTo') && !isBack && (
        <Button onClick={() => setOpen('close')}>{say('sender.close')}</Button>
      )}
      {open === 'suspend' && <SuspendDialog companyId={companyId} sender={sender} onClose={close} />}
      {open === 'close' && <CloseDialog companyId={companyId} sender={sender} onClose={close} />}
    </>
  )
}

function ResumeButton({ companyId, sender: { senderId } }: Props) {
  const { say } = useWords()
  const resume = useSenderChange(
    () => ask<void>('POST', `/senders/${senderId}/unsuspend?companyId=${companyId}`),
    () => say('sender.resume.done'),
  )
  return (
    <Button loading={resume.isPending} onClick={() => resume.mutate(undefined, { onError: tellProblem })}>
      {say('sender.resume')}
    </Button>
  )
}

function SuspendDialog({ companyId, sender: { senderId, senderName }, onClose }: Props & { onClose(): void }) {
  const words = useWords()
  const { say } = words
  const [reason, setReason] = useState('')
  const suspend = useSenderChange(
    (given: string) => ask<void>('POST', `/senders/${senderId}/suspend?companyId=${companyId}`, { reason: given }),
    () => say('sender.suspend.done'),
  )
  return (
    <Dialog
      title={say('sender.suspend.title', { name: senderName })}
      text={say('sender.suspend.text')}
      submit={say('sender.suspend')}
      isDangerous
      isBusy={suspend.isPending}
      onSubmit={() => suspend.mutate(reason, { onSuccess: onClose })}
      onClose={onClose}
    >
      {suspend.isError && <FormProblem>{describeProblem(words, suspend.error)}</FormProblem>}
      <Textarea
        label={say('sender.suspend.reason')}
        data-autofocus
        maxLength={2000}
        autosize
        minRows={2}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </Dialog>
  )
}

function CloseDialog({ companyId, sender, onClose }: Props & { onClose(): void }) {
  const { say } = useWords()
  const { date } = useFormats()
  const change = useSenderChange(
    (form: NameChange) => ask<void>('PATCH', `/senders/${sender.senderId}?companyId=${companyId}`, form),
    ({ dateTo }) => say('sender.close.done', { day: date(dateTo!) }),
  )
  return (
    <EndDialog
      title={say('sender.close.title', { name: sender.senderName })}
      text={say('sender.close.text')}
      submit={say('sender.close')}
      version={sender.version}
      change={change}
      onClose={onClose}
    />
  )
}
