import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { GatewayChanged } from '../../../../src/http/cabinet/service/gateway-changes.ts'
import type { TrialBody, TrialReport } from '../../../../src/http/cabinet/service/gateway-trials.ts'
import { ask, type Wire } from '../../api.ts'
import { Status } from '../../parts/content/status.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { FormProblem } from '../../parts/forms/form-problem.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { describeProblem } from '../../problems.ts'
import { useWords } from '../../words/words.ts'
import { useGatewayChange } from '../changes.ts'
import styles from '../gateways.module.css'
import type { GatewayDetails } from '../gateways.ts'
import { fieldProblemOf } from '../problems.ts'

export type GatewayTask = 'pause' | 'resume' | 'drain' | 'remove' | 'test'

type Props = { gateway: GatewayDetails; onClose(): void }

export function GatewayDialog({ task, ...props }: Props & { task: GatewayTask }) {
  if (task === 'test') return <TestDialog {...props} />
  if (task === 'drain') return <DrainDialog {...props} />
  if (task === 'remove') return <RemoveDialog {...props} />
  return <PauseDialog {...props} isPause={task === 'pause'} />
}

function PauseDialog({ gateway, isPause, onClose }: Props & { isPause: boolean }) {
  const words = useWords()
  const { say } = words
  const { name, gatewayId } = gateway
  const verb = isPause ? 'pause' : 'resume'
  const change = useGatewayChange<undefined>(
    () => ask<GatewayChanged>('POST', `/gateways/${gatewayId}/${verb}`),
    say(`gateway.${verb}.done`, { name }),
    onClose,
  )
  return (
    <Dialog
      title={say(`gateway.${verb}.title`, { name })}
      text={say(`gateway.${verb}.text`)}
      submit={say(`gateway.${verb}`)}
      isBusy={change.isPending}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
    </Dialog>
  )
}

const hours = [1, 4, 12, 24, 48]

function DrainDialog({ gateway: { name, gatewayId }, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const [chosen, setChosen] = useState(4)
  const change = useGatewayChange<{ hours: number }>(
    body => ask<GatewayChanged>('POST', `/gateways/${gatewayId}/drain`, body),
    say('gateway.drain.done', { name }),
    onClose,
  )
  return (
    <Dialog
      title={say('gateway.drain.title', { name })}
      text={say('gateway.drain.text')}
      submit={say('gateway.drain')}
      isBusy={change.isPending}
      onSubmit={() => change.mutate({ hours: chosen })}
      onClose={onClose}
    >
      {change.isError && <FormProblem>{describeProblem(words, change.error)}</FormProblem>}
      <NativeSelect
        label={say('gateway.drain.hours')}
        value={chosen}
        onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
      >
        {hours.map(count => (
          <option key={count} value={count}>
            {say('gateway.drain.hour', { count })}
          </option>
        ))}
      </NativeSelect>
    </Dialog>
  )
}

function RemoveDialog({ gateway: { name, gatewayId, outstanding, standing }, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const navigate = useNavigate()
  const mustDrain = outstanding > 0 && standing !== 'drained'
  const remove = useGatewayChange<undefined>(
    () => ask<GatewayChanged>('DELETE', `/gateways/${gatewayId}`),
    say('gateway.remove.done', { name }),
    () => void navigate({ to: '/gateways' }),
  )
  if (mustDrain)
    return (
      <Dialog
        title={say('gateway.remove.title', { name })}
        text={say('gateway.remove.mustDrain', { count: outstanding })}
        close={say('app.close')}
        onClose={onClose}
      />
    )
  return (
    <Dialog
      title={say('gateway.remove.title', { name })}
      text={say('gateway.remove.text')}
      submit={say('gateway.remove')}
      isDangerous
      isBusy={remove.isPending}
      onSubmit={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      {remove.isError && <FormProblem>{describeProblem(words, remove.error)}</FormProblem>}
    </Dialog>
  )
}

/** Stays open after a test, so that a second number can be tried. */
function TestDialog({ gateway: { name, gatewayId }, onClose }: Props) {
  const words = useWords()
  const { say } = words
  const [message, setMessage] = useState<TrialBody>({ to: '', sender: '', text: say('gateway.test.hello') })
  const trial = useMutation({
    mutationFn: () => ask<TrialReport>('POST', `/gateways/${gatewayId}/trials`, message),
  })
  const problem = trial.isError ? fieldProblemOf(words, trial.error) : undefined
  const field = (key: keyof TrialBody) => ({
    error: problem?.field === key && problem.text,
    value: message[key],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      setMessage({ ...message, [key]: currentTarget.value }),
  })
  return (
    <Dialog
      title={say('gateway.test.title', { name })}
      text={say('gateway.test.text')}
      submit={say('gateway.test')}
      close={say('app.close')}
      isBusy={trial.isPending}
      onSubmit={() => trial.mutate()}
      onClose={onClose}
    >
      {problem && !(problem.field && problem.field in message) && <FormProblem>{problem.text}</FormProblem>}
      <TextInput label={say('gateway.test.to')} inputMode="tel" data-autofocus maxLength={2000} {...field('to')} />
      <TextInput label={say('gateway.test.sender')} maxLength={100} {...field('sender')} />
      <Textarea label={say('gateway.test.message')} autosize={false} rows={2} maxLength={2000} {...field('text')} />
      {trial.data && <Outcome report={trial.data} />}
    </Dialog>
  )
}

function Outcome({ report }: { report: Wire<TrialReport> }) {
  const { say } = useWords()
  const names = useTrafficNames()
  const { outcome, isDelivered, providerIds, reason, errorCode, operatorError, receipts } = report
  const isTaken = outcome === 'accepted'
  const own = [errorCode === null ? null : names.reason(errorCode), operatorError, reason].filter(Boolean).join(' · ')
  return (
    <div className={styles.outcome} role="status">
      <Status kind={isTaken ? 'ok' : 'fail'}>{say(`gateway.test.${outcome}`)}</Status>
      {own && <p>{own}</p>}
      {providerIds.length > 0 && <p className={styles.code}>{providerIds.join(', ')}</p>}
      {isTaken && !isDelivered && (
        <ul className={styles.receipts}>
          {receipts.length === 0 && <li>{say('gateway.test.noReceipt')}</li>}
          {receipts.map((receipt, place) => (
            <li key={place}>
              <Status kind={receipt.status === 'FAILED' ? 'fail' : 'ok'}>
                {say(`gateway.test.receipt.${receipt.status as 'DELIVERED' | 'FAILED' | 'READ'}`)}
              </Status>{' '}
              {receipt.errorCode !== null && names.reason(receipt.errorCode)}{' '}
              {receipt.operatorError && <span className={styles.code}>{receipt.operatorError}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
