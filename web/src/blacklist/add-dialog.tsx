import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { AddedAnswer, NewBlacklistEntry } from '../../../src/http/cabinet/messages/blacklist.ts'
import { ask } from '../api.ts'
import { groupedNumber } from '../messages/names.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { FormProblem } from '../parts/forms/form-problem.tsx'
import { describeProblem } from '../problems.ts'
import { useWords } from '../words/words.ts'
import { BLACKLIST, pathOf } from './blacklist.ts'

/** Adds one number to the blacklist. */
export function AddDialog({ companyId, onClose }: { companyId: number; onClose(): void }) {
  const words = useWords()
  const { say } = words
  const [number, setNumber] = useState('')
  const [comment, setComment] = useState('')
  const client = useQueryClient()
  const add = useMutation({
    mutationFn: (entry: NewBlacklistEntry) => ask<AddedAnswer>('POST', pathOf(companyId), entry),
    onSuccess: async ({ msisdn, isNew }) => {
      await client.invalidateQueries({ queryKey: BLACKLIST })
      tellDone(say(isNew ? 'blacklist.added' : 'blacklist.wasThere', { number: groupedNumber(msisdn) }))
      onClose()
    },
  })
  const isOfNumber = /msisdn/.test(add.error?.message ?? '')
  return (
    <Dialog
      title={say('blacklist.add.title')}
      text={say('blacklist.add.text')}
      submit={say('blacklist.add')}
      isBusy={add.isPending}
      onSubmit={() => add.mutate({ msisdn: number.trim(), comment: comment.trim() })}
      onClose={onClose}
    >
      {add.isError && !isOfNumber && <FormProblem>{describeProblem(words, add.error)}</FormProblem>}
      <TextInput
        label={say('blacklist.number')}
        type="tel"
        placeholder="+7 916 000-00-01"
        autoComplete="off"
        data-autofocus
        maxLength={32}
        error={isOfNumber && say('blacklist.add.wrong')}
        value={number}
        onChange={({ currentTarget }) => setNumber(currentTarget.value)}
      />
      <TextInput
        label={say('blacklist.add.comment')}
        autoComplete="off"
        maxLength={255}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
    </Dialog>
  )
}
