import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { KindPath, Listed, Verification, Widget } from '../verification.ts'
import { usePercent } from './breakdown.tsx'
import { shareOf } from './conversion-figures.tsx'

export function VerifierList({ data: { verifiers } }: { data: Verification }) {
  const { say } = useWords()
  return (
    <Section title={say('verification.verifiers')} note={say('verification.verifiers.note')}>
      {verifiers.length === 0 ? (
        <p className="note">{say('verification.verifiers.empty')}</p>
      ) : (
        <List first={say('verification.verifier')} last={say('verification.code')}>
          {verifiers.map(verifier => (
            <Row key={verifier.id} kind="verifiers" item={verifier} sub={<span className="mono">{verifier.id}</span>}>
              <td data-label={say('verification.code')} className={styles.codeCell}>
                <CodeSummary item={verifier} />
              </td>
            </Row>
          ))}
        </List>
      )}
    </Section>
  )
}

export function WidgetList({ data: { widgets } }: { data: Verification }) {
  const { say } = useWords()
  return (
    <Section title={say('verification.widgets')} note={say('verification.widgets.note')}>
      {widgets.length === 0 ? (
        <p className="note">{say('verification.widgets.empty')}</p>
      ) : (
        <List first={say('verification.widget')} last={say('verification.state')}>
          {widgets.map(widget => (
            <Row key={widget.id} kind="widgets" item={widget} sub={<Sites widget={widget} />}>
              <td className={table.corner}>
                <WidgetState widget={widget} />
              </td>
            </Row>
          ))}
        </List>
      )}
    </Section>
  )
}

function List({ first, last, children }: { first: string; last: string; children: ReactNode }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.list}`}>
      <thead>
        <tr>
          <th>{first}</th>
          <th>{say('verification.ways')}</th>
          <th>{last}</th>
          <th className={table.number}>{say('verification.column.sent')}</th>
          <th className={table.number}>{say('verification.column.confirmed')}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

type RowProps = { kind: KindPath; item: Listed; sub: ReactNode; children: ReactNode }

function Row({ kind, item, sub, children }: RowProps) {
  const { say } = useWords()
  const { number } = useFormats()
  const percent = usePercent()
  return (
    <tr>
      <td className={table.title}>
        <Link to={`/verification/${kind}/$id`} params={{ id: item.id }} className={`${table.main} ${styles.name}`}>
          {item.name}
        </Link>
        <span className={table.sub}>{sub}</span>
      </td>
      <td className={styles.waysCell} data-label={say('verification.ways')}>
        <WaysInWords item={item} />
      </td>
      {children}
      <td className={table.number} data-label={say('verification.column.sent')}>
        {number(item.sums.sent)}
      </td>
      <td className={table.number} data-label={say('verification.column.confirmed')}>
        {item.sums.sent > 0 ? percent(shareOf(item.sums)) : <span className={table.dim}>–</span>}
      </td>
    </tr>
  )
}

/** The channels as text: `SMS, then flash call` if the verifier has a fallback. */
function WaysInWords({ item: { channels, hasFallback } }: { item: Listed }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const names = channels.map(channel)
  if (!hasFallback || names.length === 0) return names.join(', ')
  return names.reduce((before, next) => say('verification.then', { first: before, next }))
}

function CodeSummary({ item: { codeLength, lifetimeSeconds, tries } }: { item: Listed }) {
  const { say } = useWords()
  const minutes = Math.round(lifetimeSeconds / 6) / 10
  return [
    say('verification.digits', { count: codeLength }),
    say('verification.minutes', { count: minutes }),
    say('verification.tries', { count: tries }),
  ].join(', ')
}

function Sites({ widget: { origins, isBuilder } }: { widget: Widget }) {
  const { say } = useWords()
  const hosts = origins.map(origin => origin.replace(/^https?:\/\//, ''))
  return [
    ...hosts.slice(0, 1),
    ...(origins.length > 1 ? [say('verification.moreOrigins', { count: origins.length - 1 })] : []),
    ...(isBuilder ? [say('verification.isBuilder')] : []),
  ].join(', ')
}

function WidgetState({ widget: { errors, sums } }: { widget: Widget }) {
  const { say } = useWords()
  if (errors) return <Status kind="warn">{say('verification.errors', { count: errors.count })}</Status>
  if (sums.confirmed > 0) return <Status kind="ok">{say('verification.works')}</Status>
  return <Status kind="wait">{say('verification.noCodes')}</Status>
}
