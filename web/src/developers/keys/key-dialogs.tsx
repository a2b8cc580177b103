import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ShownKeyAnswer } from '../../../../src/http/cabinet/developers/keys.ts'
import { ask } from '../../api.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { tellDone } from '../../parts/dialogs/toast.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { type ApiKey, addressesIn, keyPath, type Trial, useAddressProblem, useKeyChange, useNameOfKey } from './keys.ts'
import { AddressField, NameField } from './new-key-dialog.tsx'
import { ShownKeyDialog } from './shown-key-dialog.tsx'

/** The action that a person chose for a key. */
export type KeyTask = { kind: 'change' | 'reissue' | 'deactivate' | 'activate'; apiKey: ApiKey }

type Props = { companyId: number; apiKey: ApiKey; onClose(): void }

export function KeyDialog({
  companyId,
  task: { kind, apiKey },
  trial,
  onClose,
}: {
  companyId: number
  task: KeyTask
  trial: Trial
  onClose(): void
}) {
  const props = { companyId, apiKey, onClose }
  if (kind === 'change') return <ChangeDialog {...props} />
  if (kind === 'reissue') return <ReissueDialog {...props} trial={trial} />
  return <ActiveDialog {...props} isActive={kind === 'activate'} />
}

/**
 * Also sends the values with which the form began. The server refuses the change if another person changed the key
 * meanwhile.
 */
function ChangeDialog({ companyId, apiKey, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const nameOf = useNameOfKey()
  const addressProblem = useAddressProblem()
  const [seen] = useState({ name: apiKey.name, addresses: apiKey.addresses })
  const [name, setName] = useState(seen.name)
  const [addresses, setAddresses] = useState(seen.addresses.join('\n'))
  const change = useKeyChange(companyId, apiKey.keyId)
  const submit = () =>
    change.mutate(
      { name: name.trim(), addresses: addressesIn(addresses), seen },
      {
        onSuccess: () => {
          tellDone(say('keys.changed', { name: nameOf({ ...apiKey, name: name.trim() }) }))
          onClose()
        },
      },
    )
  const ofAddresses = change.isError ? addressProblem(change.error) : undefined
  return (
    <Dialog
      title={say('keys.change.title', { name: nameOf(apiKey) })}
      submit={say('app.save')}
      isBusy={change.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {change.isError && !ofAddresses && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <NameField value={name} onChange={setName} />
      <AddressField value={addresses} problem={ofAddresses} onChange={setAddresses} />
    </Dialog>
  )
}

function ReissueDialog({ companyId, apiKey, trial, onClose }: Props & { trial: Trial }) {
  const words = useWords()
  const { say } = words
  const nameOf = useNameOfKey()
  const reissue = useMutation({
    mutationFn: () => ask<ShownKeyAnswer>('POST', keyPath(companyId, `/${apiKey.keyId}/reissue`)),
  })
  if (reissue.data) return <ShownKeyDialog shown={reissue.data} type={apiKey.type} trial={trial} onClose={onClose} />
  return (
    <Dialog
      title={say('keys.reissue.title', { name: nameOf(apiKey) })}
      text={say('keys.reissue.text')}
      submit={say('keys.reissue')}
      isDangerous
      isBusy={reissue.isPending}
      onSubmit={() => reissue.mutate()}
      onClose={onClose}
    >
      {reissue.isError && <FormProblem>{describeProblem(words, reissue.error)}</FormProblem>}
    </Dialog>
  )
}

function ActiveDialog({ companyId, apiKey, isActive, onClose }: Props & { isActive: boolean }) {
  const words = useWords()
  const { say } = words
  const name = useNameOfKey()(apiKey)
  const change = useKeyChange(companyId, apiKey.keyId)
  const submit = () =>
    change.mutate(
      { isActive },
      {
        onSuccess: () => {
          tellDone(say(isActive ? 'keys.activated' : 'keys.deactivated', { name }))
          onClose()
        },
      },
    )
  return (
    <Dialog
      title={say(isActive ? 'keys.activate.title' : 'keys.deactivate.title', { name })}
      text={say(isActive ? 'keys.activate.text' : 'keys.deactivate.text')}
      submit={say(isActive ? 'keys.activate' : 'keys.deactivate')}
      isDangerous={!isActive}
      isBusy={change.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
    </Dialog>
  )
}
