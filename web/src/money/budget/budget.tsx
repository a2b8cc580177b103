import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import chart from '../../parts/charts/chart.module.css'
import columns from '../../parts/content/columns.module.css'
import figureRow from '../../parts/content/figures.module.css'
import { Icon } from '../../parts/content/icon.tsx'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { Section } from '../../parts/content/section.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import { useAmounts, useMoneyFormats } from '../amounts.ts'
import styles from '../money.module.css'
import { type Money, moneyQuery } from '../money.ts'
import { Gauge } from './gauge.tsx'

const SpendingChart = lazy(() => import('./spending-chart.tsx'))

/** The spent, reserved and free amounts, the forecast, and the spending by channel. */
export function Budget({ companyId }: { companyId: number }) {
  const { data, error, refetch } = useQuery({ ...moneyQuery(companyId), refetchInterval: REFRESH_MS })
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={5} />
  return (
    <>
      <Gauge money={data} />
      <Figures money={data} />
      <div className={`${columns.columns} ${styles.below}`}>
        <Spending money={data} />
        <aside className={columns.aside}>
          <WhereItWent money={data} />
        </aside>
      </div>
    </>
  )
}

const REFRESH_MS = 30_000

function Figures({ money }: { money: Money }) {
  const { say } = useWords()
  const { share, sign } = useMoneyFormats()
  const { spent, reserved, pace, paceBefore, budget, currency } = money
  const amount = useAmounts([0])
  const figure = (value: number) => (
    <>
      {amount(value)} <small>{sign(currency)}</small>
    </>
  )
  const ofBudget = (value: number) => (budget ? `${share(value / budget)}, ` : '')
  return (
    <dl className={`${figureRow.figures} ${styles.figures}`}>
      <Figure name={<Key of="spent">{say('money.spentMonth')}</Key>} value={figure(spent)}>
        {ofBudget(spent)}
        {say('money.spent.note')}
      </Figure>
      <Figure name={<Key of="held">{say('money.held')}</Key>} value={figure(reserved)}>
        {ofBudget(reserved)}
        {say('money.held.note')}
      </Figure>
      <Figure name={say('money.pace')} value={figure(pace)}>
        <PaceNote now={pace} before={paceBefore} />
      </Figure>
      <ForecastFigure money={money} />
    </dl>
  )
}

type FigureProps = { name: ReactNode; value: ReactNode; children: ReactNode; isWarning?: boolean }

const Figure = ({ name, value, children, isWarning = false }: FigureProps) => (
  <div>
    <dt className={isWarning ? styles.warning : ''}>{name}</dt>
    <dd className={styles.value}>{value}</dd>
    <dd className={styles.note}>{children}</dd>
  </div>
)

export const Key = ({ of, children }: { of: 'spent' | 'held'; children: string }) => (
  <>
    <i className={`${styles.key} ${styles[of]}`} />
    {children}
  </>
)

function PaceNote({ now, before }: { now: number; before: number }) {
  const { say } = useWords()
  if (before === 0) return say('money.pace.first')
  const change = Math.round((now / before - 1) * 100)
  if (change === 0) return say('money.pace.same')
  return say(change > 0 ? 'money.pace.more' : 'money.pace.less', { share: `${Math.abs(change)}\u00a0%` })
}

function ForecastFigure({ money: { forecast } }: { money: Money }) {
  const { say } = useWords()
  const { day } = useMoneyFormats()
  const isWarning = forecast.kind === 'out' || forecast.kind === 'empty'
  const name = say(forecast.kind === 'out' ? 'money.forecast.until' : 'money.forecast')
  return (
    <Figure
      isWarning={isWarning}
      name={isWarning ? [<Icon key="icon" name="warn" size={15} />, name] : name}
      value={forecast.kind === 'out' ? day(forecast.on) : say(`money.forecast.${forecast.kind}`)}
    >
      {say(
        forecast.kind === 'out' || forecast.kind === 'lasts'
          ? 'money.forecast.basis'
          : `money.forecast.${forecast.kind}.note`,
      )}
    </Figure>
  )
}

function Spending({ money }: { money: Money }) {
  const { say } = useWords()
  const { month, sign } = useMoneyFormats()
  return (
    <Section
      title={say('money.spending', { month: month(money.month) })}
      note={sign(money.currency)}
      end={
        <div className={chart.legend} aria-hidden="true">
          <span>
            <Key of="spent">{say('money.spent')}</Key>
          </span>
          {(money.forecast.kind === 'out' || money.forecast.kind === 'lasts') && (
            <span>
              <i className={styles.dashes} />
              {say('money.chart.forecast')}
            </span>
          )}
        </div>
      }
    >
      <Suspense fallback={<div className={styles.chartBox} />}>
        <SpendingChart money={money} />
      </Suspense>
    </Section>
  )
}

/** The same amounts as in the statement of the month. */
function WhereItWent({
  money: { channels, packages, fees, withoutDetails, spent, currency, month },
}: {
  money: Money
}) {
  const { say } = useWords()
  const { sign, month: monthName } = useMoneyFormats()
  const { channel, operator } = useTrafficNames()
  const rows = [
    ...channels.map(line => ({
      name:
        line.operator === undefined
          ? channel(line.channelType)
          : `${channel(line.channelType)}, ${operator(line.operator)}`,
      amount: line.amount,
    })),
    { name: say('money.packages'), amount: packages },
    { name: say('money.fees'), amount: fees },
    { name: say('money.withoutDetails'), amount: withoutDetails },
  ].filter(({ amount }) => amount !== 0)
  const amount = useAmounts([spent, ...rows.map(row => row.amount)])
  return (
    <Section title={say('money.where')} note={`${monthName(month)}, ${sign(currency)}`}>
      {rows.length === 0 ? (
        <p className="note">{say('money.where.nothing')}</p>
      ) : (
        <>
          <Pairs>
            {rows.map(row => (
              <Pair key={row.name} name={row.name}>
                {amount(row.amount)}
              </Pair>
            ))}
            <Pair name={say('money.spent')} isSum>
              {amount(spent)}
            </Pair>
          </Pairs>
          <div className={styles.more}>
            <Link to="/money/statements/$month" params={{ month: month.slice(0, 7) }} className="link">
              {say('money.where.statement')}
            </Link>
          </div>
        </>
      )}
    </Section>
  )
}
