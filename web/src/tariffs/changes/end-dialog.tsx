import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { TariffChange } from '../../../../src/http/cabinet/tariffs/tariffs.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { tomorrowIn } from '../names.ts'
import { type OpenedTariff, TARIFFS, type Tariff } from '../tariffs.ts'
import { DayField } from './day-field.tsx'

type Props = { data: OpenedTariff; partner: { partnerId: number }; tariff: Tariff; onClose(): void }

/** Ends the own tariff of a partner. The general tariff is valid afterwards. */
export function EndDialog({ data: { version, zone }, partner: { partnerId }, tariff, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const [from, setFrom] = useState<string | null>(() => tomorrowIn(zone))
  const client = useQueryClient()
  const navigate = useNavigate()
  const end = useMutation({
    mutationFn: (change: TariffChange) => ask<void>('POST', '/tariffs/changes', change),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: TARIFFS })
      tellDone(say('tariffs.ended'))
      onClose()
      await navigate({ to: '/tariffs', search: { book: partnerId } })
    },
  })
  const { senderType, brand, trafficType } = tariff
  const place = { partnerId, senderType, brand, trafficType }
  return (
    <Dialog
      title={say('tariffs.end.title')}
      text={say('tariffs.end.text')}
      submit={say('tariffs.end')}
      isDangerous
      isBusy={end.isPending}
      onSubmit={() => end.mutate({ ...place, from: from || null, version, tariff: null })}
      onClose={onClose}
    >
      {end.isError && <FormProblem>{describeProblem(words, end.error)}</FormProblem>}
      <DayField zone={zone} value={from} onChange={setFrom} />
    </Dialog>
  )
}
