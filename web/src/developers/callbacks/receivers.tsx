import { UnstyledButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import notice from '../../parts/content/notice.module.css'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import { tellDone, tellProblem } from '../../parts/dialogs/toast.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import styles from '../developers.module.css'
import { CALLBACKS, callbackPath, hostOf, type Receiver, type Settings } from './callbacks.ts'

type BandProps = { companyId: number; receivers: Receiver[]; mayTry: boolean }

/** Receivers that failed so often that they only get probes. */
export const PausedBands = ({ receivers, ...props }: BandProps) =>
  receivers
    .filter(({ state }) => state === 'paused')
    .map(receiver => <PausedBand key={receiver.receiver} receiver={receiver} {...props} />)

function PausedBand({ companyId, receiver, mayTry }: Omit<BandProps, 'receivers'> & { receiver: Receiver }) {
  const { say } = useWords()
  const { time } = useFormats()
  const client = useQueryClient()
  const { failures, probeAt } = receiver
  const attempt = useMutation({
    mutationFn: () => ask<void>('POST', callbackPath(companyId, '/receivers/try'), { receiver: receiver.receiver }),
    onError: tellProblem,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: CALLBACKS })
      tellDone(say('callbacks.tried'))
    },
  })
  return (
    <div className={`${notice.notice} ${styles.band}`}>
      <Icon name="pause" />
      <p>
        <b>{say('callbacks.paused.name', { receiver: hostOf(receiver.receiver) })}</b>{' '}
        {say('callbacks.paused', { count: failures })}{' '}
        {probeAt ? say('callbacks.paused.next', { time: time(probeAt) }) : say('callbacks.paused.soon')}
      </p>
      {mayTry && probeAt && (
        <UnstyledButton className="link" disabled={attempt.isPending} onClick={() => attempt.mutate()}>
          {say('callbacks.tryNow')}
        </UnstyledButton>
      )}
    </div>
  )
}

/** The servers that receive callbacks. */
export function Receivers({ settings: { receivers, mostCounted } }: { settings: Settings }) {
  const { say } = useWords()
  return (
    <Section title={say('callbacks.receivers')} note={say('callbacks.receivers.note')}>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('callbacks.receiver')}</th>
            <th>{say('callbacks.receiver.state')}</th>
            <th className={table.number}>{say('callbacks.receiver.waiting')}</th>
            <th className={table.number}>{say('callbacks.receiver.served')}</th>
          </tr>
        </thead>
        <tbody>
          {receivers.map(receiver => (
            <ReceiverRow key={receiver.receiver} receiver={receiver} mostCounted={mostCounted} />
          ))}
        </tbody>
      </table>
    </Section>
  )
}

function ReceiverRow({ receiver, mostCounted }: { receiver: Receiver; mostCounted: number }) {
  const { say } = useWords()
  const { number, ago } = useFormats()
  const { state, failures, waiting, servedAt } = receiver
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>{receiver.receiver}</span>
        {failures > 0 && <span className={table.sub}>{say('callbacks.receiver.failures', { count: failures })}</span>}
      </td>
      <td className={table.corner}>
        <Status {...lookOf[state]}>{say(`callbacks.receiver.${state}`)}</Status>
      </td>
      <td data-label={say('callbacks.receiver.waiting')} className={table.number}>
        {waiting < mostCounted ? number(waiting) : say('callbacks.receiver.more', { count: mostCounted })}
      </td>
      <td data-label={say('callbacks.receiver.served')} className={table.number}>
        {servedAt ? ago(servedAt) : '–'}
      </td>
    </tr>
  )
}

const lookOf = {
  open: { kind: 'ok' },
  failing: { kind: 'warn' },
  paused: { kind: 'warn', icon: 'pause' },
} as const
