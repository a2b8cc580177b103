import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { useSign } from '../../new-dispatch/amounts.ts'
import columns from '../../parts/content/columns.module.css'
import { Section } from '../../parts/content/section.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useCompanyId } from '../../parts/pages/one-company.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { useTariffFormats, useTariffNames } from '../names.ts'
import { PriceTabs, TariffTabs } from '../tariff-tabs.tsx'
import styles from '../tariffs.module.css'
import type { Calculation, Cost } from '../tariffs.ts'
import { calculationQuery, type Question } from './calculator.ts'
import { CalculatorForm } from './calculator-form.tsx'

/** Computes the price of messages, step by step, at the volume of this month. */
export function CalculatorPage() {
  const { say } = useWords()
  const company = useCompanyId()
  const isStaff = useMe().kind === 'STAFF'
  const question: Question = useSearch({ strict: false })
  const { data, error, refetch } = useQuery(calculationQuery(company, question))
  return (
    <>
      <PageHead
        title={say(isStaff ? 'tariffs.title' : 'prices.title')}
        note={say(isStaff ? 'tariffs.note' : 'prices.note')}
      />
      {isStaff ? <TariffTabs /> : <PriceTabs />}
      <div className={columns.columns}>
        <div>
          {data ? (
            <Answer data={data} />
          ) : error ? (
            <ErrorState error={error} onRetry={refetch} />
          ) : (
            <BoneRows rows={4} />
          )}
        </div>
        <aside className={`${columns.aside} ${styles.question}`}>
          <CalculatorForm question={question} isStaff={isStaff} counted={data?.now.volume} />
        </aside>
      </div>
    </>
  )
}

function Answer({ data }: { data: Calculation }) {
  const { say } = useWords()
  const { day } = useTariffFormats(data.zone)
  return (
    <>
      <CostSection title={say('calculator.today')} cost={data.now} data={data} />
      {data.next && (
        <CostSection title={say('calculator.from', { day: day(data.next.from) })} cost={data.next} data={data} />
      )}
    </>
  )
}

function CostSection({ title, cost, data }: { title: string; cost: Cost; data: Calculation }) {
  const { say } = useWords()
  const { money } = useFormats()
  const { span } = useTariffFormats(data.zone)
  const names = useTariffNames()
  const isStaff = useMe().kind === 'STAFF'
  const { tariff } = cost
  return (
    <Section title={title}>
      <p className={styles.total}>{money(cost.total, data.currency)}</p>
      <p className="note">
        {tariff ? (
          isStaff ? (
            <Link to="/tariffs/$tariffId" params={{ tariffId: tariff.tariffId }} className="link">
              {names.place(tariff)}
            </Link>
          ) : (
            names.place(tariff)
          )
        ) : (
          say('calculator.onePrice')
        )}
        {tariff && ` · ${names.model(tariff.pricingModel)} · ${span(tariff.steps)}`}
      </p>
      <Lines cost={cost} data={data} />
      {tariff?.pricingModel === 'MAU' && <p className="note">{say('calculator.mau')}</p>}
    </Section>
  )
}

function Lines({ cost, data }: { cost: Cost; data: Calculation }) {
  const { say } = useWords()
  const { number, money } = useFormats()
  const { price } = useTariffFormats(data.zone)
  const sign = useSign(data.currency)
  const amount = (value: number) => money(value, data.currency).split('\u00a0').slice(0, -1).join('\u00a0')
  return (
    <table className={`${table.table} ${styles.lines}`}>
      <thead>
        <tr>
          <th>{say('calculator.step')}</th>
          <th className={table.number}>{say('calculator.messages')}</th>
          <th className={table.number}>{say('tariffs.pricePerPart', { sign })}</th>
          <th className={table.number}>{say('calculator.amount', { sign })}</th>
        </tr>
      </thead>
      <tbody>
        {cost.lines.map(line => (
          <tr key={line.from}>
            <td className={table.title}>{say('tariffs.step', { from: line.from, to: line.to })}</td>
            <td data-label={say('calculator.messages')} className={table.number}>
              {number(line.messages)}
            </td>
            <td data-label={say('tariffs.price')} className={table.number}>
              {price(line.perPart)}
            </td>
            <td className={`${table.number} ${table.corner}`}>{amount(line.amount)}</td>
          </tr>
        ))}
        {cost.packages.map(({ from, amount: cost }) => (
          <tr key={`package ${from}`}>
            <td className={table.title}>{say('calculator.package', { count: Math.max(from, 1) })}</td>
            <td className={table.number} />
            <td className={table.number} />
            <td className={`${table.number} ${table.corner}`}>{amount(cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
