import { NativeSelect, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { GuessAnswer, TryAnswer, TryForm } from '../../../../src/http/cabinet/verification/trial.ts'
import { ask } from '../../api.ts'
import { Status } from '../../parts/content/status.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { describeProblem } from '../../problems.ts'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import { type KindPath, VERIFICATION, type VerifierDetails } from '../verification.ts'

type Props = { kind: KindPath; saved: VerifierDetails; onClose(): void }

/** Verifies the own number of the person with a real code, which costs money. */
export function TryDialog({ kind, saved, onClose }: Props) {
  const { say, language } = useWords()
  const words = useWords()
  const { channel } = useTrafficNames()
  const { channels } = saved.settings
  const [destination, setDestination] = useState('')
  const [channelType, setChannelType] = useState(channels[0])
  const send = useMutation({
    mutationFn: (form: TryForm) => ask<TryAnswer>('POST', `/verification/${kind}/${saved.id}/try`, form),
  })
  const title = say('verification.try.title', { name: saved.name })
  if (send.data)
    return <CodeStep kind={kind} id={saved.id} title={title} number={destination} sent={send.data} onClose={onClose} />
  return (
    <Dialog
      title={title}
      text={say('verification.try.text')}
      submit={say('verification.try.send')}
      isBusy={send.isPending}
      onSubmit={() =>
        channelType &&
        destination.trim() !== '' &&
        send.mutate({ channelType, destination: destination.trim(), language })
      }
      onClose={onClose}
    >
      {send.isError && <FormProblem>{describeProblem(words, send.error)}</FormProblem>}
      <TextInput
        label={say('verification.try.number')}
        type="tel"
        autoComplete="tel"
        placeholder="+7 916 000-00-00"
        data-autofocus
        maxLength={40}
        value={destination}
        onChange={({ currentTarget }) => setDestination(currentTarget.value)}
      />
      <NativeSelect
        label={say('verification.try.channel')}
        value={channelType}
        onChange={({ currentTarget }) => setChannelType(oneOf(channels, currentTarget.value))}
        data={channels.map(value => ({ value, label: channel(value) }))}
      />
    </Dialog>
  )
}

type CodeProps = {
  kind: KindPath
  id: string
  title: string
  number: string
  sent: { uuid: string; codeLength: number }
  onClose(): void
}

function CodeStep({ kind, id, title, number, sent: { uuid, codeLength }, onClose }: CodeProps) {
  const words = useWords()
  const { say } = words
  const client = useQueryClient()
  const [code, setCode] = useState('')
  const check = useMutation({
    mutationFn: () => ask<GuessAnswer>('POST', `/verification/${kind}/${id}/try/check`, { uuid, code: code.trim() }),
    onSuccess: ({ status }) => status === 'CONFIRMED' && client.invalidateQueries({ queryKey: [...VERIFICATION] }),
  })
  if (check.data?.status === 'CONFIRMED')
    return (
      <Dialog title={title} close={say('app.close')} onClose={onClose}>
        <p>
          <Status kind="ok">{say('verification.try.confirmed')}</Status>
        </p>
        <p className="note">{say('verification.try.confirmed.text')}</p>
      </Dialog>
    )
  const error = check.isError
    ? describeProblem(words, check.error)
    : check.data?.status === 'WRONG_CODE'
      ? say('verification.try.wrong', { count: check.data.triesLeft })
      : check.data && say('verification.try.expired')
  return (
    <Dialog
      title={title}
      text={say('verification.try.sent', { number })}
      submit={say('verification.try.check')}
      isBusy={check.isPending}
      onSubmit={() => code.trim() !== '' && check.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={say('verification.try.code')}
        inputMode="numeric"
        autoComplete="one-time-code"
        placeholder={'•'.repeat(codeLength)}
        data-autofocus
        maxLength={20}
        value={code}
        error={error}
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
      />
    </Dialog>
  )
}
