import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import type { Column } from '../../parts/lists/columns.ts'
import { Cell, ListTable } from '../../parts/lists/list-table.tsx'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { KindPath, Listed, Verification, Widget } from '../verification.ts'
import { confirmedShareOf, usePercent } from './breakdown.tsx'
import { shareOf } from './conversion-figures.tsx'

export function VerifierList({ data: { verifiers } }: { data: Verification }) {
  const { say } = useWords()
  return (
    <Section title={say('verification.verifiers')} note={say('verification.verifiers.note')}>
      {verifiers.length === 0 ? (
        <p className="note">{say('verification.verifiers.empty')}</p>
      ) : (
        <List
          name="verifiers"
          first={say('verification.verifier')}
          third={{ id: 'code', head: say('verification.code'), className: styles.codeCell }}
          items={verifiers}
        >
          {verifier => (
            <Row key={verifier.id} kind="verifiers" item={verifier} sub={<span className="mono">{verifier.id}</span>}>
              <Cell of="code">
                <CodeSummary item={verifier} />
              </Cell>
            </Row>
          )}
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
        <List
          name="widgets"
          first={say('verification.widget')}
          third={{ id: 'state', head: say('verification.state'), card: table.corner }}
          items={widgets}
        >
          {widget => (
            <Row key={widget.id} kind="widgets" item={widget} sub={<Sites widget={widget} />}>
              <Cell of="state">
                <WidgetState widget={widget} />
              </Cell>
            </Row>
          )}
        </List>
      )}
    </Section>
  )
}

type ListProps<Item> = {
  name: string
  first: string
  third: Column<Item>
  items: Item[]
  children(item: Item): ReactNode
}

function List<Item extends Listed>({ name, first, third, items, children }: ListProps<Item>) {
  const { say } = useWords()
  const columns: Column<Item>[] = [
    { id: 'name', head: first, card: table.title, by: item => item.name },
    { id: 'ways', head: say('verification.ways'), className: styles.waysCell },
    third,
    { id: 'sent', head: say('verification.column.sent'), className: table.number, by: ({ sums }) => sums.sent },
    { id: 'confirmed', head: say('verification.column.confirmed'), className: table.number, by: confirmedShareOf },
  ]
  return (
    <ListTable name={name} className={`${table.table} ${styles.list}`} columns={columns} rows={items}>
      {children}
    </ListTable>
  )
}

type RowProps = { kind: KindPath; item: Listed; sub: ReactNode; children: ReactNode }

function Row({ kind, item, sub, children }: RowProps) {
  const { number } = useFormats()
  const percent = usePercent()
  return (
    <tr>
      <Cell of="name">
        <Link to={`/verification/${kind}/$id`} params={{ id: item.id }} className={`${table.main} ${styles.name}`}>
          {item.name}
        </Link>
        <span className={table.sub}>{sub}</span>
      </Cell>
      <Cell of="ways">
        <WaysInWords item={item} />
      </Cell>
      {children}
      <Cell of="sent">{number(item.sums.sent)}</Cell>
      <Cell of="confirmed">
        {item.sums.sent > 0 ? percent(shareOf(item.sums)) : <span className={table.dim}>–</span>}
      </Cell>
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
