import { NativeSelect, TextInput } from '@mantine/core'
import { Section } from '../parts/section.tsx'
import { Status } from '../parts/status.tsx'
import table from '../parts/table.module.css'
import { useWords } from '../words/words.ts'
import { useAmount, useSign } from './amounts.ts'
import styles from './new-dispatch.module.css'
import type { StepProps } from './new-dispatch-page.tsx'
import { type NameState, namesIn, needsApproval, numberOf, statesOf } from './offer.ts'

/** Under which name the messages go out, what each operator says to it, and what is missing. */
export function SenderName({ use, offer }: StepProps) {
  const { say } = useWords()
  const { draft, change } = use
  const { channelType, senderName } = draft
  if (!needsApproval(channelType)) {
    return (
      <Section title={say('new.sender')}>
        <TextInput
          className={styles.narrow}
          aria-label={say('new.sender')}
          description={say('new.sender.free')}
          maxLength={64}
          value={senderName}
          onChange={({ currentTarget }) => change({ senderName: currentTarget.value })}
        />
      </Section>
    )
  }
  const names = namesIn(offer, channelType)
  const isShared = channelType === 'SMS'
  const shared = offer.shared.senderName
  const states = statesOf(offer, channelType, senderName)
  return (
    <Section title={say('new.sender')} note={say('new.sender.note')}>
      <NativeSelect
        className={styles.narrow}
        aria-label={say('new.sender')}
        value={senderName}
        onChange={({ currentTarget }) => change({ senderName: currentTarget.value })}
        data={[
          { value: '', label: say('new.sender.empty'), disabled: true },
          ...names.map(name => ({ value: name.senderName, label: name.senderName })),
          ...(isShared ? [{ value: shared, label: say('new.sender.shared', { name: shared }) }] : []),
        ]}
      />
      {names.length === 0 && isShared && (
        <p className={`note ${styles.below}`}>{say('new.sender.none', { name: shared })}</p>
      )}
      {senderName !== '' && states.length > 0 && (
        <NameTable states={states} isShared={senderName === shared} currency={offer.company.currency} />
      )}
    </Section>
  )
}

type TableProps = { states: NameState[]; isShared: boolean; currency: string }

function NameTable({ states, isShared, currency }: TableProps) {
  const { say } = useWords()
  const amount = useAmount()
  const sign = useSign(currency)
  return (
    <table className={`${table.table} ${styles.below} ${styles.tight}`}>
      <thead>
        <tr>
          <th>{say('new.sender.operator')}</th>
          <th>{say('new.sender.state')}</th>
          <th className={table.number}>{say('new.sender.part', { sign })}</th>
        </tr>
      </thead>
      <tbody>
        {states.map(state => (
          <tr key={state.brand ?? 'OTHER'}>
            <td className={`${table.title} ${table.main}`}>{say(`operator.${state.brand ?? 'OTHER'}`)}</td>
            <td className={table.corner}>
              <NameStatus state={state} isShared={isShared} />
            </td>
            <td className={table.number} data-label={say('new.sender.part', { sign })}>
              {state.partPrice === null ? (
                <span className={table.dim}>{say('new.sender.leftOut')}</span>
              ) : (
                amount(numberOf(state.partPrice))
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function NameStatus({ state: { registration }, isShared }: { state: NameState; isShared: boolean }) {
  const { say } = useWords()
  if (isShared || registration?.isUsable) return <Status kind="ok">{say('new.sender.approved')}</Status>
  if (!registration)
    return (
      <Status kind="wait" icon="slash">
        {say('new.sender.missing')}
      </Status>
    )
  if (registration.status === 'APPROVED') return <Status kind="fail">{say('new.sender.suspended')}</Status>
  return <Status kind="sent">{say('new.sender.waiting')}</Status>
}
