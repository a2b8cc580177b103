import { NativeSelect, TextInput } from '@mantine/core'
import { Band } from '../../parts/content/band.tsx'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import table from '../../parts/lists/table.module.css'
import { PageLink } from '../../parts/pages/page-link.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { useAmount, useSign } from '../amounts.ts'
import type { Draft } from '../draft.ts'
import styles from '../new-dispatch.module.css'
import { type NameState, namesIn, needsApproval, numberOf, numbersByBrand, statesOf } from '../offer.ts'
import type { StepProps } from '../step.tsx'

/** The sender name, its approval by each operator, and missing approvals. */
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
        <>
          <NameTable states={states} isShared={senderName === shared} currency={offer.company.currency} />
          <Lacking draft={draft} states={states} />
        </>
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
    <table className={`${table.table} ${styles.below} ${styles.prices}`}>
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
            <td className={table.main}>{say(`operator.${state.brand ?? 'OTHER'}`)}</td>
            <td>
              <NameStatus state={state} isShared={isShared} />
            </td>
            <td className={table.number}>
              {state.partPrice === null ? <span className={table.dim}>–</span> : amount(numberOf(state.partPrice))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Operators that have not approved the name, with their count of numbers in the list. */
function Lacking({ draft, states }: { draft: Draft; states: NameState[] }) {
  const { say } = useWords()
  const mayAsk = useMe().rights.includes('settings.change')
  const counts = numbersByBrand(draft)
  const lacking = states.filter(({ partPrice }) => partPrice === null)
  const concerned = counts ? lacking.filter(({ brand }) => (counts.get(brand) ?? 0) > 0) : lacking
  if (concerned.length === 0) return null
  const nameOf = ({ brand }: NameState) => say(`operator.${brand ?? 'OTHER'}`)
  const toAsk = concerned.find(({ registration }) => !registration)
  const { senderName: name } = draft
  return (
    <div className={styles.below}>
      <Band kind="warn" title={say('new.sender.lacks', { operators: concerned.map(nameOf).join(', ') })}>
        {counts ? (
          concerned.map(state => (
            <p key={state.brand}>
              {say('new.sender.lacks.count', { operator: nameOf(state), count: counts.get(state.brand) ?? 0 })}
            </p>
          ))
        ) : (
          <p>{say('new.sender.lacks.text')}</p>
        )}
        {mayAsk && toAsk && (
          <PageLink to="/senders/new" search={{ name, brand: toAsk.brand ?? undefined }}>
            {say('new.sender.ask')}
          </PageLink>
        )}
      </Band>
    </div>
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
