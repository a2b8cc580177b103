import { Button, NativeSelect, UnstyledButton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import { useFormats } from '../../format.ts'
import { useZoneName } from '../../overview/clock.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { DayFilter } from '../../parts/lists/day-filter.tsx'
import row from '../../parts/lists/filter-row.module.css'
import table from '../../parts/lists/table.module.css'
import { useOperatorName } from '../../parts/names/operator-names.ts'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import { useAmounts, useMoneyFormats, useTimes } from '../amounts.ts'
import styles from '../money.module.css'
import { entriesQuery, kinds, type Line, ledgerFile, ledgerQuery, useLedgerFilter } from '../money.ts'

/** The ledger lines with their causes, by day, the newest first. */
export function Ledger({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { filter } = useLedgerFilter()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    ledgerQuery(companyId, filter),
  )
  const first = data?.pages[0]
  const lines = data?.pages.flatMap(page => page.lines) ?? []
  const dayEnds = new Map(data?.pages.flatMap(page => page.dayEnds.map(({ day, balance }) => [day, balance] as const)))
  return (
    <>
      <Filters companyId={companyId} />
      {first ? (
        lines.length > 0 ? (
          <LedgerTable
            companyId={companyId}
            lines={lines}
            dayEnds={dayEnds}
            currency={first.currency}
            zone={first.zone}
          />
        ) : (
          <Nothing />
        )
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
      {hasNextPage && (
        <Button className={styles.older} onClick={() => fetchNextPage()} loading={isFetchingNextPage}>
          {say('money.older')}
        </Button>
      )}
    </>
  )
}

function Filters({ companyId }: { companyId: number }) {
  const { say, language } = useWords()
  const { filter, change } = useLedgerFilter()
  const { kind, from, to } = filter
  return (
    <search className={`${row.filters} ${styles.filters}`}>
      <NativeSelect
        aria-label={say('money.filter.kind')}
        value={kind ?? ''}
        onChange={({ currentTarget }) => change({ kind: oneOf(kinds, currentTarget.value) })}
        data={[
          { value: '', label: say('money.filter.all') },
          ...kinds.map(value => ({ value, label: say(`money.kind.${value}`) })),
        ]}
      />
      <DayFilter label={say('money.filter.from')} value={from} onChange={day => change({ from: day })} />
      <DayFilter label={say('money.filter.to')} value={to} onChange={day => change({ to: day })} />
      <a className={`link ${styles.file}`} href={ledgerFile(companyId, filter, language)} download>
        <Icon name="download" /> {say('money.ledger.csv')}
      </a>
    </search>
  )
}

function Nothing() {
  const { say } = useWords()
  const { filter, change } = useLedgerFilter()
  if (Object.values(filter).every(value => value === undefined))
    return <Blank drawing="bird" title={say('money.ledger.empty')} text={say('money.ledger.empty.text')} />
  return (
    <Blank drawing="lost" title={say('money.ledger.nothing')} text={say('money.ledger.nothing.text')}>
      <Button onClick={() => change({ kind: undefined, from: undefined, to: undefined })}>
        {say('money.filter.clear')}
      </Button>
    </Blank>
  )
}

type TableProps = { companyId: number; lines: Line[]; dayEnds: Map<string, number>; currency: string; zone: string }

function LedgerTable({ companyId, lines, dayEnds, currency, zone }: TableProps) {
  const { say } = useWords()
  const { weekDay, sign } = useMoneyFormats()
  const zoneName = useZoneName()
  const amount = useAmounts([...lines.map(line => line.amount), ...dayEnds.values()])
  const days = [...Map.groupBy(lines, ({ day }) => day)]
  return (
    <>
      <p className="note">{say('money.ledger.zone', { zone: zoneName(zone) })}</p>
      <table className={`${table.table} ${styles.ledger}`}>
        <thead>
          <tr>
            <th>{say('money.ledger.time')}</th>
            <th>{say('money.ledger.entry')}</th>
            <th className={table.number}>{say('money.ledger.amount', { sign: sign(currency) })}</th>
            <th className={table.number}>{say('money.ledger.balance', { sign: sign(currency) })}</th>
            <th className={table.actions} aria-label={say('money.ledger.open')} />
          </tr>
        </thead>
        <tbody>
          {days.map(([day, ofDay]) => (
            <Fragment key={day}>
              <tr className={styles.dayRow}>
                <th colSpan={3} scope="rowgroup">
                  {weekDay(day)}
                </th>
                <td className={table.number}>
                  <span className={styles.onlyNarrow}>{say('money.ledger.dayEnd')} </span>
                  {amount(dayEnds.get(day) ?? 0)}
                </td>
                <td className={table.actions} />
              </tr>
              {ofDay.map(line => (
                <LineRows key={line.lineId} companyId={companyId} line={line} amount={amount} zone={zone} />
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </>
  )
}

type RowProps = { companyId: number; line: Line; amount: (amount: number) => string; zone: string }

function LineRows({ companyId, line, amount, zone }: RowProps) {
  const { say } = useWords()
  const [isOpen, setIsOpen] = useState(false)
  const isIn = line.kind === 'TOPUP' || (line.kind === 'CORRECTION' && line.amount > 0)
  return (
    <>
      <tr>
        <td className={`${styles.when} ${table.corner}`}>
          <Span line={line} zone={zone} />
        </td>
        <td className={table.title}>
          <Cause line={line} />
        </td>
        <td className={`${table.number} ${isIn ? styles.in : ''}`} data-label={say('money.ledger.amountShort')}>
          {isIn ? '+' : '−'}
          {amount(Math.abs(line.amount))}
        </td>
        <td className={styles.noBalance} />
        <td className={table.actions}>
          {line.entries > 1 && (
            <UnstyledButton
              className={table.open}
              aria-expanded={isOpen}
              aria-label={say('money.ledger.openLine', { count: line.entries })}
              onClick={() => setIsOpen(!isOpen)}
            >
              <Icon name="turn" />
            </UnstyledButton>
          )}
        </td>
      </tr>
      {isOpen && <Entries companyId={companyId} line={line} amount={amount} zone={zone} />}
    </>
  )
}

/** The first and the last time of the line, or one time if both are in the same minute. */
function Span({ line: { firstAt, lastAt }, zone }: { line: Line; zone: string }) {
  const { minute } = useTimes(zone)
  const [first, last] = [minute(firstAt), minute(lastAt)]
  return <time dateTime={firstAt}>{first === last ? first : `${first}–${last}`}</time>
}

function Cause({ line }: { line: Line }) {
  const { say } = useWords()
  const { month } = useMoneyFormats()
  const operatorOf = useOperatorName()
  const { kind, messages, dispatchId, dispatchName, senderName, brand, note } = line
  if (kind === 'TOPUP' || kind === 'CORRECTION') return <Entry main={say(`money.kind.${kind}`)} sub={note} />
  if (kind === 'SENDER_FEE')
    return (
      <Entry
        main={say('money.cause.fee', { month: month(line.month) })}
        sub={[senderName, brand && operatorOf(brand)].filter(Boolean).join(', ')}
      />
    )
  const main =
    kind === 'MAU_PACKAGE'
      ? say('money.cause.package')
      : messages > 0
        ? say('money.cause.messages', { count: messages })
        : say('money.cause.messagesUncounted')
  if (dispatchId === null) return <Entry main={main} sub={say('money.cause.singles')} />
  return (
    <>
      <Link to="/dispatches/$dispatchId" params={{ dispatchId }} className={styles.cause}>
        {main}
      </Link>
      <span className={table.sub}>{dispatchName ?? say('money.cause.dispatch', { id: dispatchId })}</span>
    </>
  )
}

const Entry = ({ main, sub }: { main: string; sub: string | null }) => (
  <>
    <span className={table.main}>{main}</span>
    {sub && <span className={table.sub}>{sub}</span>}
  </>
)

/** The entries of a ledger line. Each recorded batch of results is one entry. */
function Entries({ companyId, line, amount, zone }: RowProps) {
  const { say } = useWords()
  const { number } = useFormats()
  const { second } = useTimes(zone)
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(entriesQuery(companyId, line))
  if (!data)
    return (
      <tr>
        <td colSpan={5}>{error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={1} />}</td>
      </tr>
    )
  return (
    <>
      {data.pages
        .flatMap(page => page.entries)
        .map(({ entryId, at, messages, amount: of }) => (
          <tr key={entryId} className={styles.entry}>
            <td className={styles.when}>{second(at)}</td>
            <td className={table.title}>
              {messages === null ? '' : say('money.ledger.batch', { count: number(messages) })}
            </td>
            <td className={table.number}>−{amount(of)}</td>
            <td className={styles.noBalance} />
            <td className={table.actions} />
          </tr>
        ))}
      {hasNextPage && (
        <tr className={styles.entry}>
          <td colSpan={5}>
            <UnstyledButton className="link" onClick={() => fetchNextPage()}>
              {say('money.older')}
            </UnstyledButton>
          </td>
        </tr>
      )}
    </>
  )
}
