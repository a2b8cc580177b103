import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'

type Change = {
  mutate(given: { version: string; dateTo: string }, then: { onSuccess(): void }): void
  isPending: boolean
  error: unknown
}
type Props = { title: string; text: string; submit: string; version: string; change: Change; onClose(): void }

/** Asks for the last day of a sender name or a template. */
export function EndDialog({ version, change, ...asked }: Props) {
  const words = useWords()
  const [day, setDay] = useState(today())
  const submit = () => change.mutate({ version, dateTo: endOf(day) }, { onSuccess: asked.onClose })
  return (
    <Dialog {...asked} isDangerous isBusy={change.isPending} onSubmit={submit}>
      {change.error !== null && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <TextInput
        type="date"
        label={words.say('sender.close.day')}
        data-autofocus
        min={today()}
        value={day}
        onChange={({ currentTarget }) => setDay(currentTarget.value || today())}
      />
    </Dialog>
  )
}

/** The day in the reader's time zone, in the format of a date input. */
const today = () => new Date().toLocaleDateString('sv-SE')

/** The last second of a day. */
const endOf = (day: string) => new Date(`${day}T23:59:59`).toISOString()
