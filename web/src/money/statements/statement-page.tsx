import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import columns from '../../parts/content/columns.module.css'
import figureRow from '../../parts/content/figures.module.css'
import { Icon } from '../../parts/content/icon.tsx'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { Section } from '../../parts/content/section.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { useOperatorName } from '../../parts/names/operator-names.ts'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { OneCompany } from '../../parts/pages/one-company.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useWords } from '../../words/words.ts'
import { useAmounts, useMoneyFormats } from '../amounts.ts'
import styles from '../money.module.css'
import { figuresOf, type Statement, statementFile, statementQuery } from '../money.ts'

/** One month of one company, with the same sums as the files of the statement. */
export function StatementPage() {
  const { month } = useParams({ from: '/shell/money/statements/$month' })
  return <OneCompany>{companyId => <OfCompany companyId={companyId} month={month} />}</OneCompany>
}

function OfCompany({ companyId, month }: { companyId: number; month: string }) {
  const { say, language } = useWords()
  const { monthOfYear } = useMoneyFormats()
  const { data, error, refetch } = useQuery(statementQuery(companyId, month))
  return (
    <>
      <Link to="/money/statements" className={styles.back}>
        <Icon name="back" /> {say('money.statement.back')}
      </Link>
      <PageHead
        title={say('money.statement.title', { month: monthOfYear(month) })}
        note={data?.company.name ?? ' '}
        actions={
          !error &&
          (['csv', 'pdf'] as const).map(format => (
            <Button
              key={format}
              component="a"
              href={statementFile(companyId, month, format, language)}
              download
              leftSection={<Icon name="download" />}
            >
              {format.toUpperCase()}
            </Button>
          ))
        }
      />
      {data ? (
        <StatementBody statement={data} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </>
  )
}

function StatementBody({ statement }: { statement: Statement }) {
  const { say } = useWords()
  const isQuiet = statement.spent === 0 && statement.toppedUp === 0 && statement.corrections.length === 0
  return (
    <>
      <Summary statement={statement} />
      {!statement.isOver && <p className={styles.notOver}>{say('money.statement.notOver')}</p>}
      <div className={columns.columns}>
        <div>
          <ByChannel statement={statement} />
          <ByTariff statement={statement} />
          {isQuiet && <p className="note">{say('money.statement.quiet')}</p>}
        </div>
        <aside className={columns.aside}>
          <Noted title={say('money.statement.toppedUp')} lines={statement.topUps} total={statement.toppedUp} />
          <Noted title={say('money.statement.corrected')} lines={statement.corrections} total={statement.corrected} />
          <Fees statement={statement} />
          <Details statement={statement} />
        </aside>
      </div>
    </>
  )
}

type Part = { statement: Statement }

function Summary({ statement }: Part) {
  const { say } = useWords()
  const { sign } = useMoneyFormats()
  const figures = figuresOf(statement.corrections.length > 0)
  const amount = useAmounts(figures.map(figure => statement[figure]))
  return (
    <dl className={`${figureRow.figures} ${styles.summary}`}>
      {figures.map(figure => (
        <div key={figure}>
          <dt>{say(`money.statement.${figure}`)}</dt>
          <dd className={styles.value}>
            {amount(statement[figure])} <small>{sign(statement.currency)}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

type Row = { key: string; name: ReactNode; messages?: number; parts?: number; amount: number }

function ByChannel({ statement }: Part) {
  const { say } = useWords()
  const { channel, operator } = useTrafficNames()
  const rows: Row[] = statement.channels.map(({ channelType, operator: of, ...counts }) => {
    const name = of === undefined ? channel(channelType) : `${channel(channelType)}, ${operator(of)}`
    return { key: name, name, ...counts }
  })
  const others = [
    { key: 'packages', name: say('money.packages'), amount: statement.packages },
    ...restOf(statement, say('money.fees'), say('money.withoutDetails')),
  ]
  return <SumTable title={say('money.statement.channels')} rows={[...rows, ...others]} statement={statement} />
}

function ByTariff({ statement }: Part) {
  const { say } = useWords()
  const operatorOf = useOperatorName()
  const nameOf = (tariff: Statement['tariffs'][number]['tariff']) => {
    if (!tariff) return { main: say('money.tariff.none'), sub: say('money.tariff.none.note') }
    const { senderType, brand, trafficType, pricingModel } = tariff
    return {
      main: `${say(`money.sender.${senderType}`)}, ${brand === null ? say('money.tariff.allOperators') : operatorOf(brand)}`,
      sub: [
        trafficType === null ? say('money.tariff.allTraffic') : say(`money.traffic.${trafficType}`),
        say(`money.model.${pricingModel}`),
      ].join(', '),
    }
  }
  const rows = statement.tariffs.flatMap(({ tariff, messages, parts, amount, packages }): Row[] => {
    const { main, sub } = nameOf(tariff)
    const key = String(tariff?.tariffId ?? 'none')
    const named = (extra?: string) => (
      <>
        <span className={table.main}>{main}</span>
        <span className={table.sub}>{extra ?? sub}</span>
      </>
    )
    return [
      ...(amount > 0 ? [{ key, name: named(), messages, parts, amount }] : []),
      ...(packages > 0 ? [{ key: `${key} packages`, name: named(say('money.packages')), amount: packages }] : []),
    ]
  })
  const others = restOf(statement, say('money.fees'), say('money.withoutDetails'))
  return <SumTable title={say('money.statement.tariffs')} rows={[...rows, ...others]} statement={statement} />
}

const restOf = ({ fees, withoutDetails }: Statement, feesName: string, restName: string): Row[] => [
  { key: 'fees', name: feesName, amount: fees.amount },
  { key: 'rest', name: restName, amount: withoutDetails },
]

function SumTable({ title, rows, statement: { spent, currency } }: { title: string; rows: Row[] } & Part) {
  const { say } = useWords()
  const { number, sign } = useMoneyFormats()
  const shown = rows.filter(({ amount }) => amount !== 0)
  const amount = useAmounts([spent, ...shown.map(row => row.amount)])
  const count = (value: number | undefined) => (value === undefined ? '–' : number(value))
  if (shown.length === 0) return null
  return (
    <Section title={title}>
      <table className={`${table.table} ${styles.sums}`}>
        <thead>
          <tr>
            <th>{say('money.statement.item')}</th>
            <th className={table.number}>{say('money.statement.messages')}</th>
            <th className={table.number}>{say('money.statement.parts')}</th>
            <th className={table.number}>{say('money.ledger.amount', { sign: sign(currency) })}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, name, messages, parts, amount: of }) => (
            <tr key={key}>
              <td className={table.title}>{name}</td>
              <td className={table.number} data-label={say('money.statement.messages')}>
                {count(messages)}
              </td>
              <td className={table.number} data-label={say('money.statement.parts')}>
                {count(parts)}
              </td>
              <td className={table.number} data-label={say('money.ledger.amountShort')}>
                {amount(of)}
              </td>
            </tr>
          ))}
          <tr className={styles.total}>
            <td className={table.title}>{say('money.statement.total')}</td>
            <td className={styles.noBalance} />
            <td className={styles.noBalance} />
            <td className={table.number} data-label={say('money.ledger.amountShort')}>
              {amount(spent)}
            </td>
          </tr>
        </tbody>
      </table>
    </Section>
  )
}

/** Top-ups or corrections, each with its day and comment. */
function Noted({ title, lines, total }: { title: string; lines: Statement['topUps']; total: number }) {
  const { shortDay } = useMoneyFormats()
  const named = lines.map(({ day, note, amount }) => ({
    name: [shortDay(day), note].filter(Boolean).join(' · '),
    amount,
  }))
  return <SumList title={title} lines={named} total={total} />
}

function Fees({ statement: { fees } }: Part) {
  const { say } = useWords()
  const operatorOf = useOperatorName()
  const lines = fees.lines.map(({ senderName, brand, amount }) => ({
    name: [senderName ?? '–', brand && operatorOf(brand)].filter(Boolean).join(', '),
    amount,
  }))
  return <SumList title={say('money.fees')} lines={lines} total={fees.amount} />
}

type ListProps = { title: string; lines: { name: string; amount: number }[]; total: number }

/** Lines with their sum. The server sends at most 200 lines; one more line has the sum of the others. */
function SumList({ title, lines, total }: ListProps) {
  const { say } = useWords()
  const listed = lines.reduce((sum, line) => sum + line.amount, 0)
  const rest = Math.round((total - listed) * 10_000) / 10_000
  const shown = rest === 0 ? lines : [...lines, { name: say('money.statement.more'), amount: rest }]
  const amount = useAmounts([total, ...shown.map(line => line.amount)])
  if (lines.length === 0) return null
  return (
    <Section title={title}>
      <Pairs hasLongNames>
        {shown.map((line, place) => (
          <Pair key={place} name={line.name}>
            {amount(line.amount)}
          </Pair>
        ))}
        {shown.length > 1 && (
          <Pair name={say('money.statement.total')} isSum>
            {amount(total)}
          </Pair>
        )}
      </Pairs>
    </Section>
  )
}

function Details({ statement: { company } }: Part) {
  const { say } = useWords()
  const { legalName, inn, kpp, address } = company
  return (
    <Section title={say('money.statement.company')}>
      <Pairs>
        <Pair name={say('money.statement.legalName')}>{legalName}</Pair>
        <Pair name={say('money.statement.inn')}>{inn}</Pair>
        {kpp && <Pair name={say('money.statement.kpp')}>{kpp}</Pair>}
        {address && <Pair name={say('money.statement.address')}>{address}</Pair>}
      </Pairs>
    </Section>
  )
}
